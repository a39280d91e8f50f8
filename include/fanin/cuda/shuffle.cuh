// SPDX-License-Identifier: Apache-2.0
// Moves a state of an accumulator between the threads of a warp.
#pragma once

#include <cstring>
#include <type_traits>

namespace fanin::device_code {

/// Returns the state of the thread of the warp that is `distance` above the caller. If there is no such thread,
/// returns the caller's own state. Every thread of `mask` calls the function.
template <class State>
__device__ State shuffle_down(State value, unsigned distance, unsigned mask = 0xffffffffu) {
  static_assert(std::is_trivially_copyable_v<State>);
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  // A long loop takes long to compile if it is unrolled completely.
#pragma unroll(sizeof words > 128 ? 4 : 32)
  for (unsigned& word : words) word = __shfl_down_sync(mask, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace fanin::device_code
