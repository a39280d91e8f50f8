// What a multiprocessor holds of a kernel, against what it would take to keep the memory busy.
#pragma once

#include <string>
#include <string_view>

namespace fanin::cli::lab {

struct residency {
  unsigned warps, most_warps;   ///< on a multiprocessor: that fit, and of any kernel
  std::string_view limited_by;  ///< what ends first, were each the only limit
  unsigned bytes_of_warp;       ///< asked of memory before any of them is needed
  double bytes_wanted;          ///< under way in a multiprocessor: latency x bandwidth of the memory
  unsigned tiles_under_way;     ///< of a block
  bool asks_once;               ///< a block has one tile and ends

  /// By Little's law.
  double warps_needed() const { return bytes_wanted / bytes_of_warp; }
};

/// What limits the kernel, without a full stop.
std::string sentence(const residency& of);

}  // namespace fanin::cli::lab
