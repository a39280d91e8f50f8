// SPDX-License-Identifier: Apache-2.0
// The warps of a kernel that a multiprocessor holds, compared with the warps that would hide the latency of memory.
#pragma once

#include <string>
#include <string_view>

namespace fanin::cli::lab {

struct residency {
  unsigned warps, most_warps;   ///< warps per multiprocessor, of this kernel and at most
  std::string_view limited_by;  ///< the resource that limits `warps`
  unsigned bytes_of_warp;       ///< bytes that a warp requests from memory before it uses the first of them
  double bytes_wanted;          ///< latency x bandwidth of the memory, per multiprocessor
  unsigned tiles_under_way;     ///< tiles that a block copies ahead
  bool asks_once;               ///< true if a block reads one tile and ends

  /// The warps that hide the latency of memory, by Little's law.
  double warps_needed() const { return bytes_wanted / bytes_of_warp; }
};

/// A sentence about what limits the kernel, without a full stop.
std::string sentence(const residency& held);

}  // namespace fanin::cli::lab
