// SPDX-License-Identifier: Apache-2.0
// Finishing one state by its recipe, on the host or the device.
#pragma once

#include <limits>
#include <utility>

#include <fanin/device.hpp>

#include "backends/cuda/recipes.hpp"

namespace fanin::cuda {

/// Calls f(one) with the recipe of `what` for elements T, if served(one) holds; `served` is known at compile time.
template <class T, method How, class Served, class F, std::size_t... What>
FANIN_HOST_DEVICE void with_operation(operation what, Served, const F& f, std::index_sequence<What...>) {
  const auto call = [&]<operation One>() {
    if constexpr (fanin::detail::has_recipe<One, How, T>) {
      if constexpr (Served()(recipe<One, How, T>())) {
        if (what == One) f(recipe<One, How, T>());
      }
    }
  };
  (call.template operator()<static_cast<operation>(What)>(), ...);
}
template <class T, method How, class Served, class F>
FANIN_HOST_DEVICE void with_operation(operation what, Served served, const F& f) {
  with_operation<T, How>(what, served, f, std::make_index_sequence<operation_count>());
}

/// The bits of both parts of a complex number.
struct bits_of_parts {
  using value_type = detail::number_format::bits;
  value_type re, im;
};

/// A measure of dispersion of exact sums. Its code is long, and a kernel has it once for all measures.
template <class R, class State, class... To>
FANIN_HOST_DEVICE FANIN_NOINLINE R dispersion_of(const State& s, std::uint64_t count, dispersion_measure wanted,
                                                 To... to) {
  return s.template dispersion_of<R>(count, wanted, to...);
}

/// Returns a NaN of type R, or the bits of the NaN of a format.
template <class R>
FANIN_HOST_DEVICE R nan_of() {
  constexpr auto nan = std::numeric_limits<part_of<R>>::quiet_NaN();
  if constexpr (complex_number<R>) return {nan, nan};
  if constexpr (!complex_number<R>) return nan;
}
template <class R>
FANIN_HOST_DEVICE R nan_of(const detail::number_format& to) {
  if constexpr (std::is_same_v<R, bits_of_parts>) return {to.quiet_nan, to.quiet_nan};
  if constexpr (!std::is_same_v<R, bits_of_parts>) return to.quiet_nan;
}

/// The value of a state, if it fits. A mean or variance of no elements is NaN. `to` is empty, or if R has bits, their
/// format.
template <class Recipe, class R, class... To>
FANIN_HOST_DEVICE R value_of(const typename Recipe::accumulator::state& s, std::uint64_t count, To... to) {
  using A = typename Recipe::accumulator;
  constexpr operation_row row = operation_rows[static_cast<std::size_t>(Recipe::what)];
  if constexpr (row.result == result_rule::quotient && least_count(Recipe::what) > 0) {
    if (count < least_count(Recipe::what)) return nan_of<R>(to...);
  }
  if constexpr (requires { A::measure; }) {
    return dispersion_of<R>(s, count, A::measure, to...);
  } else {
    return A::template finish<R>(s, count, to...);
  }
}

/// The value of a state as fanin::enqueue writes it. An integer that does not fit into R leaves its low bits, with
/// the flag.
template <class Recipe, class R>
FANIN_HOST_DEVICE device_result<R> finished(const typename Recipe::accumulator::state& s, std::uint64_t count) {
  using A = typename Recipe::accumulator;
  constexpr result_rule rule = operation_rows[static_cast<std::size_t>(Recipe::what)].result;
  constexpr bool is_total = rule == result_rule::widened || rule == result_rule::length;
  if constexpr (is_total && requires { A::template fits<R>(s); }) {
    return {A::template wrapped<R>(s), A::template fits<R>(s) ? 0u : 1u};
  } else {
    return {value_of<Recipe, R>(s, count), 0};
  }
}

}  // namespace fanin::cuda
