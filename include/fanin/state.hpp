// SPDX-License-Identifier: Apache-2.0
// Exact sums whose state is kept: more elements can be added later, on any backend, and states of several processes,
// machines or days can be merged. accumulator/exact.hpp has what a state can do.
//
//   fanin::exact_accumulator<double> sum;
//   fanin::accumulate(sum, std::span(x));                    // as fast as fanin::sum with method::exact
//   fanin::accumulate(sum, fanin::device_span(y, n), context);
//   sum.merge(fanin::exact_accumulator<double>::load(bytes_of_another_process));
//   double total = sum.round();
#pragma once

#include <fanin/accumulator/exact.hpp>
#include <fanin/elements.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

class device_context;

namespace detail {

/// Writes the state, of `bytes`, of the elements of x, which are as exact as numbers of `type`. The count in it is
/// not set on every backend.
FANIN_API report exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                             options chosen);
FANIN_API report exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                             options chosen, device_context& context);

template <class T, int Power, class... Context>
report accumulate(basic_exact_accumulator<T, Power>& into, const input_views& x, const options& chosen,
                  Context&... context) {
  basic_exact_accumulator<T, Power> part;
  report done = exact_state(Power == 1 ? operation::sum : operation::sum_of_squares, type_of<T>, x, &part,
                            sizeof part, chosen, context...);
  into.add_elements(x.count() - done.absent, [&](auto& all) { all.merge(part); });
  return done;
}

}  // namespace detail

/// Adds x[0..n), or the squares of its elements, to the state, which afterwards is that of all elements added so far.
/// x is of type T, or if T is float, of floats of 8 or 16 bits; masks and options::nan are as for the verbs.
/// Accuracy, special values: as for exact_accumulator. Reproducible: the same state on every backend (exact).
/// Memory: host or device, not copied within it.   Threads: one call at a time for each state.
/// Cost: as that of the exact sum.
/// @throws as fanin::sum; invalid_argument for elements of another type, another method than exact, or if
/// options::result is set; overflow if there are more than 2^63 elements then. The state is then as it was
template <class T, int Power>
report accumulate(basic_exact_accumulator<T, Power>& into, const input_views& x, const options& chosen = {}) {
  return detail::accumulate(into, x, chosen);
}
template <class T, int Power, elements X>
requires(!std::convertible_to<X, input_views>) report
    accumulate(basic_exact_accumulator<T, Power>& into, const X& x, const options& chosen = {}) {
  input_views all(detail::view_of(x));
  if constexpr (detail::is_masked<X>) all = all.where(x.mask());
  return detail::accumulate(into, all, chosen);
}
/// Adds x like the other accumulate(), by the backend `cuda` on that context, and waits for the state.
template <class T, int Power>
report accumulate(basic_exact_accumulator<T, Power>& into, const input_views& x, device_context& context,
                  const options& chosen = {}) {
  return detail::accumulate(into, x, chosen, context);
}

/// How many lanes the state of `what` has for elements of `type`: that of exact_accumulator<T> for sum, mean and
/// sum_of_magnitudes, of exact_square_accumulator<T> for sum_of_squares and norm2. T is double for f64, and float
/// for other floating-point numbers. 0 if there are no lanes.
FANIN_API std::size_t lane_count(operation what, element_type type);

/// Enqueues the exact sum of x as lane_count() lanes, those of exact_accumulator::to_lanes(), and returns. They may
/// be added lane by lane to those of up to 2^31 other states, on any device or host, before from_lanes() or
/// enqueue_value_of_lanes() takes their sum. `what`: any operation that has lanes.
/// Memory: x and `lanes` on the device, or pinned. Kernels use the context's scratch, and write `lanes` when they
/// need it no more. May be captured into a CUDA graph as fanin::enqueue.   Reproducible: the same lanes for the same
/// values in any order (exact). Threads: one call at a time for each context.   Cost: one read of x, and a short
/// kernel.
/// @throws invalid_argument if x is not device memory, `lanes` is null or no memory that the device can reach, or
/// for another method than exact or options::result; unsupported for what has no lanes; out_of_memory, device_error
FANIN_API void enqueue_lanes(operation what, const input_views& x, std::int64_t* lanes, device_context& context,
                             const options& chosen = {});

/// Enqueues the value of `what` of the summed lanes of elements of `type`, rounded once, and returns. `result` is a
/// device_result of float or double in device memory (or pinned), as options::result or default_result() says.
/// Empty gives what fanin::enqueue gives; a mean is NaN too if the number of elements is not known. Lanes that no
/// states have give an unspecified value.   Memory, threads, graphs: as enqueue_lanes().
/// @throws invalid_argument if a pointer is null or no memory that the device can reach; unsupported for what has no
/// lanes, and for a result as f16, bf16, e5m2 or e4m3; device_error
FANIN_API void enqueue_value_of_lanes(operation what, element_type type, const std::int64_t* lanes, void* result,
                                      device_context& context, options chosen = {});

}  // namespace fanin
