// SPDX-License-Identifier: Apache-2.0
// The cost of a divergent branch: some threads of each warp take one side and the others take the other side.
#pragma once

#include <string_view>
#include <vector>

#include "base/cuda/handles.hpp"

namespace fanin::lab {

/// Times of a kernel that sets each float to 100 or 200. The thread's parity selects the side in one variant of the
/// kernel, and every warp diverges; the warp's parity selects it in the other, and no warp diverges.
struct divergence {
  std::string_view version;  ///< the work of the two sides
  bool verified;             ///< both variants set every element correctly; the times are measured only then
  double by_thread_seconds, by_warp_seconds;
  double ratio;  ///< median of the ratios thread / warp of the rounds
};

/// Measures two versions on the current device: the sides of `constants` only assign, and each side of `chains` is
/// 256 dependent operations. In every round both variants run; they take turns in being first.
/// @throws out_of_memory, device_error
std::vector<divergence> measure_divergence(cudaStream_t stream);

}  // namespace fanin::lab
