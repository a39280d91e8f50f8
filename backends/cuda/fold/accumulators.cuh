// The accumulators as kernels use them: which one serves an operation, and moving its state between the lanes of a
// warp.
#pragma once

#include <cstring>
#include <type_traits>

#include "backends/cuda/arithmetic.hpp"

namespace fanin::cuda {

template <operation What, class T>
using accumulator_for = std::conditional_t<
    What == operation::min, accumulator::smallest<T>,
    std::conditional_t<
        What == operation::max, accumulator::largest<T>,
        std::conditional_t<
            What == operation::product,
            std::conditional_t<std::is_floating_point_v<T>, accumulator::plain_product<T>,
                               accumulator::integer_product<T>>,
            std::conditional_t<std::is_floating_point_v<T>, accumulator::plain_sum<T>, integer_sum_of<T>>>>>;

/// The state of the lane `distance` above, or the caller's own where there is none. Every lane of `mask` takes part.
template <class State>
__device__ State shuffle_down(State value, unsigned distance, unsigned mask = 0xffffffffu) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % 4 == 0);
  unsigned words[sizeof(State) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(mask, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace fanin::cuda
