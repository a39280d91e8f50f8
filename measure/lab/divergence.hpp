// What a branch costs whose two sides are taken inside each warp, against one where whole warps agree.
#pragma once

#include <string_view>
#include <vector>

#include "backends/cuda/runtime/handles.hpp"

namespace fanin::lab {

/// One kernel that gives each float 100 or 200, in two spellings: the side goes by the parity of the thread, or of
/// its warp.
struct divergence {
  std::string_view version;  ///< what the two sides do
  bool verified;             ///< every element, of both spellings; the rest is measured only then
  double by_thread_seconds, by_warp_seconds;
  double ratio;  ///< median of the rounds' own
};

/// The sides of `constants` only assign, those of `chains` are 256 dependent operations each. Both spellings run in
/// turn, round by round, each first every other time. On the current device. @throws out_of_memory, device_error
std::vector<divergence> measure_divergence(cudaStream_t stream);

}  // namespace fanin::lab
