// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a recipe on a CPU: the loops of its accumulator, and the end by its functions on states.
#pragma once

#include "backends/cpu/accumulator_loops.hpp"
#include "backends/state_functions_of.hpp"

namespace fanin::cpu {

template <class Recipe>
using loop_of = loop<acc::folds_as_t<typename Recipe::accumulator>>;

using finish_function = decltype(arithmetic::finish);

/// The function that finishes a state of the loop by Finish, which takes a state of the accumulator. Where order does
/// not matter, both states are the same.
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

/// Writes the value of all elements, which one thread folds at once.
template <class Recipe>
void reduce_alone(const operands& data, std::size_t count, element_type result, void* out) {
  using loop = loop_of<Recipe>;
  if constexpr (requires { loop::whole(data, count); }) {
    const typename Recipe::accumulator::state total = loop::whole(data, count);
    finish_state<Recipe>(&total, count, result, out);
  } else {
    alignas(detail::state_alignment) std::byte state[loop::functions.state_bytes];
    loop::functions.reset(state);
    loop::functions.accumulate(data, count, state);
    finish_by<Recipe, finish_state<Recipe>>()(state, count, result, out);
  }
}

/// The exact sums of several arrays. Most short ones need no exact accumulator.
template <class Recipe>
void sum_each_exactly(const operands* runs, const std::size_t* counts, std::size_t number, element_type result,
                      void* out) {
  using A = typename Recipe::accumulator;
  double totals[arithmetic::most_runs];
  sum_short_exactly<typename A::element>(runs, counts, number, totals);
  with_result<Recipe>(result, [&]<class R>(R) {
    for (std::size_t i = 0; i < number; ++i) {
      const bool found = sizeof(R) >= sizeof(typename A::element) && totals[i] == totals[i];
      if (found) {
        static_cast<R*>(out)[i] = static_cast<R>(totals[i]);
      } else {
        reduce_alone<Recipe>(runs[i], counts[i], result, static_cast<R*>(out) + i);
      }
    }
  });
}

template <class Recipe>
constexpr arithmetic arithmetic_of() {
  using A = typename Recipe::accumulator;
  using loop_accumulator = acc::folds_as_t<A>;
  arithmetic f = loop<loop_accumulator>::functions;
  if (f.state_bytes > sizeof(state_buffer)) throw "state_buffer is too small";
  static_assert(!A::order_free || loop_of<Recipe>::functions.state_bytes == sizeof(typename A::state));
  f.finish = finish_by<Recipe, finish_state<Recipe>>();
  f.reduce = reduce_alone<Recipe>;
  if constexpr (requires(typename loop_accumulator::state * totals) {
                  loop<loop_accumulator>::whole_each(nullptr, nullptr, 0, totals);
                }) {
    f.reduce_each = [](const operands* runs, const std::size_t* counts, std::size_t number, element_type result,
                       void* out) {
      typename loop_accumulator::state totals[arithmetic::most_runs];
      loop<loop_accumulator>::whole_each(runs, counts, number, totals);
      with_result<Recipe>(result, [&]<class R>(R) {
        for (std::size_t i = 0; i < number; ++i) {
          static_cast<R*>(out)[i] = A::template finish<R>(totals[i], counts[i]);
        }
      });
    };
  }
  if constexpr (std::same_as<A, acc::exact_sum<typename A::element>>) f.reduce_each = sum_each_exactly<Recipe>;
  static_assert(A::order_free || loop_of<Recipe>::functions.leaf_elements == detail::leaf_of<A>);
  f.bound = bound_of_state<Recipe>;
  return f;
}

/// The arithmetic whose finish() adds the folded elements, at least one, to the result which stands at `out`.
template <class Recipe>
constexpr arithmetic addition_of() {
  arithmetic f = arithmetic_of<Recipe>();
  f.reduce = nullptr;
  f.reduce_each = nullptr;
  f.finish = finish_by<Recipe, add_to_result<Recipe>>();
  f.bound = bound_of_addition<Recipe>;
  return f;
}

}  // namespace fanin::cpu
