// SPDX-License-Identifier: Apache-2.0
// The state_functions of a recipe.
#pragma once

#include <new>
#include <type_traits>

#include <fanin/accumulator/earlier_result.hpp>
#include <fanin/recipe.hpp>

#include "backends/state_functions.hpp"

namespace fanin {

template <class Recipe>
void finish_state(const void* state, std::uint64_t count, element_type result, void* out) {
  using A = typename Recipe::accumulator;
  with_result<Recipe>(result, [&]<class R>(R) {
    *static_cast<R*>(out) = A::template finish<R>(*static_cast<const typename A::state*>(state), count);
  });
}

/// Adds the elements of the state, at least one, to the result at `out`.
template <class Recipe>
void add_to_result(const void* state, std::uint64_t count, element_type result, void* out) {
  with_result<Recipe>(result, [&]<class R>(R) {
    R& value = *static_cast<R*>(out);
    value = accumulator::with_earlier<Recipe>(*static_cast<const typename Recipe::accumulator::state*>(state), count,
                                              value);
  });
}

template <class Recipe>
error_bound bound_of_state(const rounding_chain& chain, std::uint64_t count, element_type result) {
  return with_result<Recipe>(result,
                             [&]<class R>(R) { return Recipe::accumulator::template bound<R>(chain, count); });
}

/// The bound of what add_to_result() writes.
template <class Recipe>
error_bound bound_of_addition(const rounding_chain& chain, std::uint64_t count, element_type result) {
  return with_result<Recipe>(result,
                             [&]<class R>(R) { return accumulator::bound_with_earlier<Recipe, R>(chain, count); });
}

/// Merges two states. Recipes whose accumulators fold alike share the function.
template <class A>
void merge_states(void* into, const void* behind) {
  using state = typename A::state;
  A::merge(*static_cast<state*>(into), *static_cast<const state*>(behind));
}

template <class Recipe>
constexpr state_functions state_functions_of() {
  using A = typename Recipe::accumulator;
  using state = typename A::state;
  using folded = accumulator::folds_as_t<A>;
  static_assert(std::is_same_v<state, typename folded::state>);
  state_functions f{};
  f.order_free = A::order_free;
  f.reset = [](void* into) { ::new (into) state(A::identity()); };
  f.merge = merge_states<folded>;
  f.move = [](void* of, std::uint64_t by) {
    if constexpr (requires(state & s) { s.index; }) static_cast<state*>(of)->index += by;
  };
  f.finish = finish_state<Recipe>;
  f.bound = bound_of_state<Recipe>;
  if constexpr (row_of(Recipe::what).takes_results) f.bound_of_addition = bound_of_addition<Recipe>;
  return f;
}

}  // namespace fanin
