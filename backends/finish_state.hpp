// SPDX-License-Identifier: Apache-2.0
// The value and its error bound, from the state of a recipe's accumulator, behind run-time types.
#pragma once

#include <fanin/accumulator/earlier_result.hpp>
#include <fanin/recipe.hpp>

namespace fanin {
namespace detail {

template <class Recipe>
struct finished_by {
  using type = Recipe;
};
template <operation What, method How, narrow_float T>
struct finished_by<recipe<What, How, T>> {
  using type = recipe<What, How, float>;
};

/// Returns f(R()) for the type R of a result whose number has type `result`. A recipe of floats also finishes results
/// of narrow floats.
template <class Recipe, std::size_t I = 0, class F>
auto with_result_of_any(element_type result, const F& f) {
  if constexpr (!std::same_as<typename Recipe::element, float> || I == element_count) {
    return with_result<Recipe>(result, f);
  } else {
    using T = element_at<I>;
    if constexpr (narrow_float<T>) {
      if constexpr (is_result(Recipe::what, type_of<T>, Recipe::method, type_of<T>)) {
        if (result == type_of<T>) return f(formed<T, row_of(Recipe::what).form>());
      }
    }
    return with_result_of_any<Recipe, I + 1>(result, f);
  }
}

}  // namespace detail

/// The recipe whose functions below serve Recipe: narrow floats are folded as floats, to the states of floats.
template <class Recipe>
using finished_by_t = typename detail::finished_by<Recipe>::type;

/// Returns `f.operator()<A, R>()`, where R is the type of the result whose number has type `result`, and A is the
/// accumulator that finishes a state of Recipe as R.
template <class Recipe, class F>
auto with_end(element_type result, const F& f) {
  return detail::with_result_of_any<Recipe>(result, [&]<class R>(R) {
    using A = typename Recipe::accumulator;
    using number = typename result_traits<R>::number;
    if constexpr (narrow_float<number> && std::same_as<typename Recipe::element, float>) {
      return f.template operator()<accumulator::widening<number, A>, R>();
    } else {
      return f.template operator()<A, R>();
    }
  });
}

template <class Recipe>
void finish_state(const void* state, std::uint64_t count, element_type result, void* out) {
  with_end<Recipe>(result, [&]<class A, class R>() {
    *static_cast<R*>(out) = A::template finish<R>(*static_cast<const typename A::state*>(state), count);
  });
}

/// Adds the elements of the state, at least one, to the result at `out`.
template <class Recipe>
void add_to_result(const void* state, std::uint64_t count, element_type result, void* out) {
  with_end<Recipe>(result, [&]<class A, class R>() {
    R& value = *static_cast<R*>(out);
    value = accumulator::with_earlier<Recipe>(*static_cast<const typename A::state*>(state), count, value);
  });
}

template <class Recipe>
error_bound bound_of_state(const rounding_chain& chain, std::uint64_t count, element_type result) {
  const error_bound found =
      with_end<Recipe>(result, [&]<class A, class R>() { return A::template bound<R>(chain, count); });
  // Field by field: a whole bound is copied by loads that wait for its narrower stores.
  return {found.of_result, found.of_magnitudes, found.absolute, found.in_range_only};
}

/// The bound of what add_to_result() writes.
template <class Recipe>
error_bound bound_of_addition(const rounding_chain& chain, std::uint64_t count, element_type result) {
  return with_end<Recipe>(result,
                          [&]<class, class R>() { return accumulator::bound_with_earlier<Recipe, R>(chain, count); });
}

}  // namespace fanin
