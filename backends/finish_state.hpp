// SPDX-License-Identifier: Apache-2.0
// The value and its error bound, from the state of a recipe's accumulator, behind run-time types.
#pragma once

#include <fanin/accumulator/earlier_result.hpp>
#include <fanin/recipe.hpp>

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
  const error_bound found =
      with_result<Recipe>(result, [&]<class R>(R) { return Recipe::accumulator::template bound<R>(chain, count); });
  // Field by field: a whole bound is copied by loads that wait for its narrower stores.
  return {found.of_result, found.of_magnitudes, found.absolute, found.in_range_only};
}

/// The bound of what add_to_result() writes.
template <class Recipe>
error_bound bound_of_addition(const rounding_chain& chain, std::uint64_t count, element_type result) {
  return with_result<Recipe>(result,
                             [&]<class R>(R) { return accumulator::bound_with_earlier<Recipe, R>(chain, count); });
}

}  // namespace fanin
