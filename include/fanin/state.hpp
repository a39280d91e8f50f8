// SPDX-License-Identifier: Apache-2.0
// Exact sums whose state is kept. More elements can be added to a state later, on any backend. States of several
// processes, machines or days can be merged. accumulator/exact.hpp has the functions of a state.
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

/// Writes the state of the elements of x, which has `bytes` bytes. Numbers of `type` hold the elements exactly. Not
/// every backend sets the count in the state.
FANIN_API report exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                             options chosen);
FANIN_API report exact_state(operation what, element_type type, const input_views& x, void* state, std::size_t bytes,
                             options chosen, device_context& context);

/// The operation whose result is the sum of the powers of the elements.
template <int Power>
inline constexpr operation operation_of_power = Power == 1 ? operation::sum : operation::sum_of_squares;

template <class T, int Power, class... Context>
report accumulate(basic_exact_accumulator<T, Power>& into, const input_views& x, const options& chosen,
                  Context&... context) {
  basic_exact_accumulator<T, Power> part;
  report done = exact_state(operation_of_power<Power>, type_of<T>, x, &part, sizeof part, chosen, context...);
  into.add_elements(x.count() - done.absent, [&](auto& all) { all.merge(part); });
  return done;
}

}  // namespace detail

/// Adds x[0..n), or the squares of its elements, to the state. The elements of x have the type T; if T is float, they
/// may also be floats of 8 or 16 bits. Masks and options::nan are as for the verbs.
/// Accuracy, special values: as for exact_accumulator. Reproducible: the same state on every backend (exact).
/// Memory: x is in host or device memory. It is not copied within that memory. Threads: one call at a time for each
/// state. Cost: as the exact sum.
/// @throws as fanin::sum; invalid_argument if the elements have another type, if the method is not exact, or if
/// options::result is set; overflow if there would be more than 2^63 elements. After an error the state is as it was
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

/// The number of lanes that the state of `what` has for elements of `type`, or 0 if there are no lanes. If elements
/// or their magnitudes are added (power_of()), the state is exact_accumulator<T>. If squares are added, it is
/// exact_square_accumulator<T>. T is double for f64, and float for other floating-point numbers.
FANIN_API std::size_t lane_count(operation what, element_type type);

/// Enqueues the exact sum of x as lane_count() lanes, and returns. The lanes are those of
/// exact_accumulator::to_lanes(). The lanes of up to 2^31 states may be added, lane by lane, on any device or host.
/// from_lanes() or enqueue_value_of_lanes() takes their sum. `what` is any operation that has lanes.
/// Memory: x and `lanes` are on the device, or pinned. Kernels use the context's scratch until they write `lanes`.
/// May be captured into a CUDA graph as fanin::enqueue.
/// Reproducible: the same lanes for the same values in any order (exact). Threads: one call at a time for each
/// context.
/// Cost: one read of x, and a short kernel.
/// @throws invalid_argument if x is not device memory, if the device cannot reach `lanes`, if the method is not
/// exact, or if options::result is set; unsupported for operations without lanes; out_of_memory, device_error
FANIN_API void enqueue_lanes(operation what, const input_views& x, std::int64_t* lanes, device_context& context,
                             const options& chosen = {});

/// Enqueues the lanes of all elements of several arrays, of one type and without masks, as if they were one array.
/// Cost: one read of the arrays, four launches, and a short one for each 96 arrays.   Device memory: for f32 0.5 KiB
/// for each array and for each 2^16 elements, and for f64 up to 2.3 KiB.
/// @throws as above; invalid_argument if there are no arrays, or if they differ in type; unsupported if elements may
/// be absent, and for 2^24 arrays and more
FANIN_API void enqueue_lanes(operation what, std::span<const input_views> arrays, std::int64_t* lanes,
                             device_context& context, const options& chosen = {});

/// Enqueues the value of `what` from summed lanes of elements of `type`, rounded once, and returns. `result` is a
/// device_result of float or double in device memory (or pinned), as options::result or default_result() says.
/// No elements give the value of fanin::enqueue. A mean is also NaN if the number of elements is not known. If no
/// states have these lanes, the value is unspecified.   Memory, threads, graphs: as enqueue_lanes().
/// @throws invalid_argument if the device cannot reach the memory of a pointer; unsupported for operations without
/// lanes, and for a result as f16, bf16, e5m2 or e4m3; device_error
FANIN_API void enqueue_value_of_lanes(operation what, element_type type, const std::int64_t* lanes, void* result,
                                      device_context& context, options chosen = {});

}  // namespace fanin
