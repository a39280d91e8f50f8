// SPDX-License-Identifier: Apache-2.0
// Moves a state of an accumulator between the threads of a warp.
#pragma once

#include <cstring>
#include <type_traits>

namespace fanin::device_code {

/// The words in which a state is moved. nvcc takes integers of 128 bits apart into words of 64 bits in registers, but
/// into words of 32 bits in local memory.
template <class State>
using word_of_state = std::conditional_t<sizeof(State) % 8 == 0, unsigned long long, unsigned>;
template <class State>
using words_of_state = word_of_state<State>[(sizeof(State) - 1) / sizeof(word_of_state<State>) + 1];

/// Returns the state of the thread of the warp that is `distance` above the caller. If there is no such thread,
/// returns the caller's own state. Every thread of `mask` calls the function.
template <class State>
__device__ State shuffle_down(State value, unsigned distance, unsigned mask = 0xffffffffu) {
  static_assert(std::is_trivially_copyable_v<State>);
  words_of_state<State> words;
  std::memcpy(words, &value, sizeof value);
  // A long loop takes long to compile if it is unrolled completely.
#pragma unroll(sizeof words > 128 ? 4 : 32)
  for (auto& word : words) word = __shfl_down_sync(mask, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace fanin::device_code
