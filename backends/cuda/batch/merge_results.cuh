// SPDX-License-Identifier: Apache-2.0
// Merging the states of several results across the lanes of a group.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"

namespace fanin::cuda {

/// The state of the lane whose number differs in the bits `bits`. Every lane of the warp calls it.
template <class State>
__device__ State shuffle_xor(State value, unsigned bits) {
  static_assert(std::is_trivially_copyable_v<State>);
  unsigned words[(sizeof(State) + 3) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, bits);
  std::memcpy(&value, words, sizeof value);
  return value;
}

/// The results whose states a lane has after merge_results(): `count` from number `first` on.
struct results_of_lane {
  unsigned first, count;
  bool exist;  ///< otherwise other lanes have them
};

/// Merges the states of `group_size` neighbouring lanes, a power of two up to 32: each of them has states of the same
/// N results. Lanes send the states of half of the results to those that go on with these, so that results end in
/// different lanes. Those that the lane has then are in s[0], s[1], ...; their number is the same in all lanes.
template <class A, unsigned N>
__device__ results_of_lane merge_results(typename A::state (&s)[N], unsigned group_size, unsigned lane) {
  results_of_lane mine{0, N, true};
  unsigned distance = group_size / 2;
#pragma unroll
  for (unsigned half = N / 2; half > 0; half /= 2) {
    if (distance == 0) break;
    const bool goes_on_with_upper = (lane & distance) != 0;
#pragma unroll
    for (unsigned k = 0; k < half; ++k) {
      const typename A::state sent = goes_on_with_upper ? s[k] : s[k + half];
      if (goes_on_with_upper) s[k] = s[k + half];
      A::merge(s[k], shuffle_xor(sent, distance));
    }
    if (goes_on_with_upper) mine.first += half;
    mine.count = half;
    distance /= 2;
  }
  mine.exist = distance == 0 || (lane & (2 * distance - 1)) == 0;
#pragma unroll 1
  for (; distance > 0; distance /= 2) A::merge(s[0], shuffle_down(s[0], distance));
  return mine;
}

}  // namespace fanin::cuda
