// SPDX-License-Identifier: Apache-2.0
// Elements that are added to an earlier result. The earlier result counts as one more element, behind the others.
#pragma once

#include <cmath>
#include <concepts>

#include <fanin/recipe.hpp>

namespace fanin {
namespace accumulator {

/// The recipe's accumulator for elements of type R, which is the type of a result.
template <class Recipe, class R>
using accumulator_of_results = typename recipe_for<Recipe::what, Recipe::method, R>::type;

namespace detail {

/// Converts a state to the type To. If the types differ, To is the state of an exact sum of wider numbers.
template <class To, class From>
FANIN_HOST_DEVICE To state_as(const From& from) {
  if constexpr (std::same_as<To, From>) {
    return from;
  } else if constexpr (requires { from.re; }) {
    return {state_as<decltype(To::re)>(from.re), state_as<decltype(To::im)>(from.im)};
  } else {
    To wide;
    const auto value = from.template round<typename To::value_type>();
    if (!from.finite() || (value == 0 && std::signbit(value))) {
      wide.add(value);  // NaN, an infinity, or the -0 of a sum of these only
    } else {
      wide.add_sum(from.total());
    }
    return wide;
  }
}

}  // namespace detail

/// The value of `earlier` and of `count` > 0 elements whose state is `s`. `earlier` is added last.
template <class Recipe, class R>
R with_earlier(const typename Recipe::accumulator::state& s, std::uint64_t count, const R& earlier) {
  using A = accumulator_of_results<Recipe, R>;
  auto all = detail::state_as<typename A::state>(s);
  A::add(all, earlier);
  return A::template finish<R>(all, count + 1);
}

/// The proven bound of with_earlier(), for elements that are folded with this chain of roundings.
template <class Recipe, class R>
error_bound bound_with_earlier(const rounding_chain& chain, std::uint64_t count) {
  return accumulator_of_results<Recipe, R>::template bound<R>({chain.adds + 1, chain.merges}, count + 1);
}

}  // namespace accumulator
}  // namespace fanin
