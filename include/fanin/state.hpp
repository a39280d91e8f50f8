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
/// As above, by the backend `cuda` on that context; waits for the state.
template <class T, int Power>
report accumulate(basic_exact_accumulator<T, Power>& into, const input_views& x, device_context& context,
                  const options& chosen = {}) {
  return detail::accumulate(into, x, chosen, context);
}

}  // namespace fanin
