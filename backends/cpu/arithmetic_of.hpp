// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a recipe on a CPU: the loops of its accumulator, and the end by finish_state.hpp.
#pragma once

#include <algorithm>
#include <concepts>

#include "backends/cpu/accumulator_loops.hpp"
#include "backends/cpu/compared_runs.hpp"
#include "backends/finish_state.hpp"

namespace fanin::cpu {

template <class Recipe>
using loop_of = loop<acc::folds_as_t<typename Recipe::accumulator>>;

using finish_function = decltype(arithmetic::finish);

/// The function that finishes a state of the loop by Finish, which takes a state of the accumulator. Where order does
/// not matter, both states are the same. The loops of narrow floats have the states of floats.
template <class Recipe, finish_function Finish>
constexpr finish_function finish_by() {
  if constexpr (Recipe::accumulator::order_free) {
    return Finish;
  } else {
    return [](const void* state, std::uint64_t count, element_type result, void* out) {
      const typename Recipe::accumulator::state total = loop_of<Recipe>::total(state);
      Finish(&total, count, result, out);
    };
  }
}

/// Whether a loop folds short arrays without a state in memory.
template <class Loop>
concept has_whole = requires(const operands& data) {
  Loop::whole(data, 0);
};
/// Whether the recipe has a reduce(). With a larger state it would not be faster than calls of the other functions.
template <class Recipe, class A = typename Recipe::accumulator>
constexpr bool reduces_at_once = has_whole<loop_of<Recipe>> || (A::order_free && sizeof(typename A::state) <= 16);
template <class Recipe>
void reduce_at_once(const operands& data, std::size_t count, element_type result, void* out) {
  using state = typename Recipe::accumulator::state;
  if constexpr (has_whole<loop_of<Recipe>>) {
    const state total = loop_of<Recipe>::whole(data, count);
    finish_state<finished_by_t<Recipe>>(&total, count, result, out);
  } else {
    state total = Recipe::accumulator::identity();
    loop_of<Recipe>::functions.accumulate(data, count, &total);
    finish_state<finished_by_t<Recipe>>(&total, count, result, out);
  }
}

/// The exact sum of one array, by an exact accumulator.
template <class Recipe>
void sum_by_accumulator(const operands& data, std::size_t count, element_type result, void* out) {
  using T = typename Recipe::accumulator::element;
  exact_accumulator<T> total;
  add_exact(static_cast<const T*>(data.x), count, total);
  finish_state<Recipe>(&total, count, result, out);
}

/// The exact sum of one array. Most short ones need no exact accumulator.
template <class Recipe>
void sum_exactly(const operands& data, std::size_t count, element_type result, void* out) {
  double total;
  sum_short_exactly<typename Recipe::accumulator::element>(&data, &count, 1, &total);
  if (total != total) return sum_by_accumulator<Recipe>(data, count, result, out);
  with_result<Recipe>(result, [&]<class R>(R) { *static_cast<R*>(out) = static_cast<R>(total); });
}

/// The function for several arrays of a recipe whose function depends on the element's type alone.
template <class Recipe>
constexpr auto reduce_each_of() {
  using T = typename Recipe::accumulator::element;
  constexpr operation_row row = row_of(Recipe::what);
  if constexpr (row.inputs != 1 || !computable<T>) {
    return nullptr;
  } else if constexpr (row.unrounded) {
    return compare_each<T>;
  } else if constexpr (row.adds == summand::none || row.adds == summand::exponentials) {
    return nullptr;
  } else if constexpr (std::integral<T>) {
    return reduce_integers_each<T>;
  } else if constexpr (Recipe::method == method::exact) {
    return round_each<T>;
  } else {
    return nullptr;
  }
}

/// Writes the values of states, one after another. The array has room for most_runs states.
template <class Recipe>
void finish_each(typename Recipe::accumulator::state* totals, const std::size_t* counts, std::size_t number,
                 element_type result, void* out) {
  with_end<Recipe>(result, [&]<class A, class R>() {
    if constexpr (std::same_as<typename A::state, acc::scaled_sum> && std::floating_point<R>) {
      double values[arithmetic::most_runs];
      log_sum_values(totals, number, values);
      std::transform(values, values + number, static_cast<R*>(out),
                     [](double value) { return acc::canonical(static_cast<R>(value)); });
      return;
    }
    for (std::size_t i = 0; i < number; ++i) static_cast<R*>(out)[i] = A::template finish<R>(totals[i], counts[i]);
  });
}

template <class Recipe>
constexpr arithmetic arithmetic_of() {
  using A = typename Recipe::accumulator;
  using loop = loop_of<Recipe>;
  arithmetic f = loop::functions;
  static_assert(loop::functions.state_bytes <= sizeof(state_buffer));
  static_assert(!A::order_free || loop::functions.state_bytes == sizeof(typename A::state));
  static_assert(A::order_free || loop::functions.leaf_elements == detail::leaf_of<A>);
  using ended = finished_by_t<Recipe>;
  f.finish = finish_by<ended, finish_state<ended>>();
  if constexpr (reduces_at_once<Recipe>) f.reduce = reduce_at_once<Recipe>;
  f.reduce_each = reduce_each_of<Recipe>();
  if constexpr (requires(typename A::state * totals) { loop::whole_each(nullptr, nullptr, 0, totals); }) {
    f.reduce_each = [](operation, const operands* runs, const std::size_t* counts, std::size_t number,
                       element_type result, void* out) {
      typename A::state totals[arithmetic::most_runs];
      loop::whole_each(runs, counts, number, totals);
      finish_each<Recipe>(totals, counts, number, result, out);
      return std::uint64_t{0};
    };
  }
  if constexpr (std::same_as<A, acc::exact_sum<typename A::element>>) f.reduce = sum_exactly<Recipe>;
  f.bound = bound_of_state<ended>;
  return f;
}

/// The arithmetic whose finish() adds the folded elements, at least one, to the result which stands at `out`.
template <class Recipe>
constexpr arithmetic addition_of() {
  arithmetic f = arithmetic_of<Recipe>();
  f.reduce = nullptr;
  f.reduce_each = nullptr;
  using ended = finished_by_t<Recipe>;
  f.finish = finish_by<ended, add_to_result<ended>>();
  f.bound = bound_of_addition<ended>;
  return f;
}

/// The arithmetic of A over single states, to which the elements are added one after another. Its finish() and
/// bound() are null.
template <class A>
struct single_loop {
  using state = typename A::state;
  static constexpr arithmetic functions = [] {
    arithmetic f = detail::general_arithmetic<A>();
    f.one_by_one = true;
    f.state_bytes = sizeof(state);
    f.reset = [](void* s) { ::new (s) state(A::identity()); };
    f.accumulate = [](const operands& data, std::size_t count, void* s) {
      detail::unordered_loop<A>::fold(data, count, *static_cast<state*>(s));
    };
    f.merge = [](void* into, const void* from) {
      A::merge(*static_cast<state*>(into), *static_cast<const state*>(from));
    };
    return f;
  }();
};
template <class T, class A>
struct single_loop<acc::widening<T, A>> {
  static constexpr arithmetic functions = [] {
    arithmetic f = single_loop<A>::functions;
    f.element_bytes = sizeof(T);
    f.accumulate = [](const operands& data, std::size_t count, void* s) {
      fold_widened(single_loop<A>::functions, type_of<T>, nullptr, data, count, s);
    };
    return f;
  }();
};

}  // namespace fanin::cpu
