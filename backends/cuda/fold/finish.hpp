// SPDX-License-Identifier: Apache-2.0
// Finishing on the device: from states to the value, for results that stay in device memory.
#pragma once

#include <limits>

#include <fanin/device.hpp>

#include "backends/cuda/recipes.hpp"
#include "backends/cuda/runtime/device_fold.hpp"

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

struct presence_counts;
struct batch_elements;
struct batch_output;

/// States in device memory, `most_state_bytes` apart, which kernels of one request have written. `begins_with_total`:
/// the first one is a state of the request's accumulator, in which others are merged already.
struct state_run {
  std::byte* states;
  std::size_t count;
  bool begins_with_total;
};

/// Enqueues a kernel that merges the states, in order, into the first one, which then is a total. @throws
/// device_error
void enqueue_merge(const request& request, const state_run& run, cudaStream_t stream);

/// Enqueues a kernel that merges the states, in order, and writes the value as a device_result of the request's
/// result type. `present`: which elements took part, in device memory; null if all of them did. @throws device_error
void enqueue_finish(const request& request, const state_run& run, const presence_counts* present, void* result,
                    cudaStream_t stream);

/// Enqueues a kernel that writes the result of each row or long segment from its chunks' states, which a kernel of
/// the request has written to out.states. Without `only_long`, the results of segments that are not long. @throws
/// device_error
void enqueue_finish_each(const request& request, const batch_elements& all, const batch_output& out,
                         const execution& where);

}  // namespace fanin::cuda
