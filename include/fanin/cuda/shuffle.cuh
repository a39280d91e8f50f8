// SPDX-License-Identifier: Apache-2.0
// Moving an accumulator's state between the lanes of a warp.
#pragma once

#include <cstring>
#include <type_traits>

namespace fanin::device_code {

/// The state of the lane `distance` above the caller's, or the caller's own if there is no such lane. Every lane of
/// `mask` calls it.
template <class State>
__device__ State shuffle_down(State value, unsigned distance, unsigned mask = 0xffffffffu) {
  static_assert(std::is_trivially_copyable_v<State>);
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  // Long loops take long to compile if they are unrolled to the end.
#pragma unroll(sizeof words > 128 ? 4 : 32)
  for (unsigned& word : words) word = __shfl_down_sync(mask, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace fanin::device_code
