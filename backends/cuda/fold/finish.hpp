// SPDX-License-Identifier: Apache-2.0
// Finishing on the device: from states to the value, for results that stay in device memory.
#pragma once

#include <limits>

#include <fanin/device.hpp>

#include "backends/cuda/recipes.hpp"
#include "backends/cuda/runtime/device_fold.hpp"

namespace fanin::cuda {

/// The value of a state as fanin::enqueue writes it. A mean or variance of no elements is NaN; an integer that does
/// not fit into R leaves its low bits, with the flag.
template <class Recipe, class R>
FANIN_HOST_DEVICE device_result<R> finished(const typename Recipe::accumulator::state& s, std::uint64_t count) {
  using A = typename Recipe::accumulator;
  constexpr operation_row row = operation_rows[static_cast<std::size_t>(Recipe::what)];
  if constexpr (row.result == result_rule::quotient && least_count(Recipe::what) > 0) {
    if (count < least_count(Recipe::what)) {
      constexpr auto nan = std::numeric_limits<part_of<R>>::quiet_NaN();
      if constexpr (complex_number<R>) return {{nan, nan}, 0};
      if constexpr (!complex_number<R>) return {nan, 0};
    }
  }
  if constexpr (row.result == result_rule::widened && requires { A::template fits<R>(s); }) {
    return {A::template wrapped<R>(s), A::template fits<R>(s) ? 0u : 1u};
  } else {
    return {A::template finish<R>(s, count), 0};
  }
}

/// Enqueues a kernel that merges the states of the request's kernel, which are in device memory, in order, and writes
/// the value as a device_result of the request's result type. @throws device_error
void enqueue_finish(const request& request, const std::byte* states, std::size_t count_of_states, void* result,
                    cudaStream_t stream);

}  // namespace fanin::cuda
