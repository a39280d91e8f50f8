// SPDX-License-Identifier: Apache-2.0
// Finishing one state, on the host or the device.
#pragma once

#include <limits>

#include <fanin/device.hpp>

#include "backends/cuda/recipes.hpp"

namespace fanin::cuda {

/// A measure of spread of exact sums. Its code is long, and a kernel has it once for all measures.
template <class R, class State>
FANIN_HOST_DEVICE FANIN_NOINLINE R spread_of(const State& s, std::uint64_t count, spread_measure wanted) {
  return s.template spread_of<R>(count, wanted);
}

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
  constexpr bool is_total = row.result == result_rule::widened || row.result == result_rule::length;
  if constexpr (is_total && requires { A::template fits<R>(s); }) {
    return {A::template wrapped<R>(s), A::template fits<R>(s) ? 0u : 1u};
  } else if constexpr (requires { A::measure; }) {
    return {spread_of<R>(s, count, A::measure), 0};
  } else {
    return {A::template finish<R>(s, count), 0};
  }
}

}  // namespace fanin::cuda
