// SPDX-License-Identifier: Apache-2.0
// The recipes: which accumulator serves an operation, method and element type. The loops of all backends are
// generated from the recipes.
#pragma once

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/complex.hpp>
#include <fanin/accumulator/dispersion.hpp>
#include <fanin/accumulator/exact_recipes.hpp>
#include <fanin/accumulator/extremum.hpp>
#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/integer_dot.hpp>
#include <fanin/accumulator/log_sum.hpp>
#include <fanin/accumulator/magnitude.hpp>
#include <fanin/accumulator/nonzero.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>
#include <fanin/accumulator/widening.hpp>

namespace fanin {

/// A reduction known at compile time. Reductions for which all methods are the same have one recipe, for
/// method::fast.
template <operation What, method How, class T>
requires requires { typename recipe_for<What, How, T>::type; }
struct recipe {
  static constexpr operation what = What;
  static constexpr fanin::method method = How;
  using element = T;
  using accumulator = typename recipe_for<What, How, T>::type;
  /// The default type of the result.
  using result = result_of<What, T>;
};

namespace detail {

template <operation What, method How, class T>
concept has_recipe = requires {
  typename recipe_for<What, How, T>::type;
};

template <operation What, class T>
constexpr bool agrees_with_catalog() {
  const auto agrees = [&]<method How>() {
    const bool has_own_arithmetic = arithmetic_method(What, type_of<T>, How) == How;
    const bool offered = is_offered(What, type_of<T>, How);
    if constexpr (has_recipe<What, How, T>) {
      return has_own_arithmetic && offered &&
             accumulator::inputs_of<typename recipe_for<What, How, T>::type>() ==
                 static_cast<std::size_t>(row_of(What).inputs);
    } else {
      return !has_own_arithmetic || !offered;
    }
  };
  return agrees.template operator()<method::fast>() && agrees.template operator()<method::compensated>() &&
         agrees.template operator()<method::exact>();
}

template <std::size_t... W, std::size_t... E>
constexpr bool all_agree_with_catalog(std::index_sequence<W...>, std::index_sequence<E...>) {
  const auto agrees = [&]<std::size_t What>() {
    return (agrees_with_catalog<operation_rows[What].what, element_at<E>>() && ...);
  };
  return (agrees.template operator()<W>() && ...);
}
static_assert(all_agree_with_catalog(std::make_index_sequence<operation_count>(),
                                     std::make_index_sequence<element_count>()),
              "the catalogue offers what has a recipe, and nothing else");

/// Sets `found` to f(recipe) if T has a recipe for the operation and the method; otherwise leaves `found` unchanged.
template <operation What, class T, class F, class Found>
void find_method(method how, F& f, Found& found) {
  if constexpr (has_recipe<What, method::fast, T>) {
    if (how == method::fast) found = f(recipe<What, method::fast, T>());
  }
  if constexpr (has_recipe<What, method::compensated, T>) {
    if (how == method::compensated) found = f(recipe<What, method::compensated, T>());
  }
  if constexpr (has_recipe<What, method::exact, T>) {
    if (how == method::exact) found = f(recipe<What, method::exact, T>());
  }
}

template <class T, class F, std::size_t... W>
auto find_recipe(operation what, method how, F& f, std::index_sequence<W...>) {
  decltype(f(recipe<operation::sum, method::fast, T>())) found{};
  static_cast<void>(
      ((operation_rows[W].what == what &&
        (find_method<operation_rows[W].what, T>(arithmetic_method(what, type_of<T>, how), f, found), true)) ||
       ...));
  return found;
}

}  // namespace detail

/// Returns f(recipe<what, how, T>()), where `what` and `how` are known at run time only. If there is no such recipe,
/// returns a value-initialised object of f's return type.
template <class T, class F>
auto with_recipe(operation what, method how, F f) {
  return detail::find_recipe<T>(what, how, f, std::make_index_sequence<operation_count>());
}

/// Finds the recipe of an element type known at run time only. @throws invalid_argument if `type` is no enumerator
template <class F>
auto with_recipe(operation what, element_type type, method how, F f) {
  return with_element(type, [&]<class T>() { return with_recipe<T>(what, how, f); });
}

/// Returns f(R()), where R is the type of the recipe's result whose number has type `result`, for which is_result()
/// holds.
template <class Recipe, class F>
FANIN_HOST_DEVICE auto with_result(element_type result, F f) {
  using R = typename Recipe::result;
  using T = typename Recipe::element;
  constexpr auto may_be = [](element_type type) { return is_result(Recipe::what, type_of<T>, Recipe::method, type); };
  if constexpr (std::same_as<R, float> && may_be(element_type::f64)) {
    if (result == element_type::f64) return f(double());
  }
  if constexpr (std::same_as<R, std::complex<float>> && may_be(element_type::c128)) {
    if (result == element_type::c128) return f(std::complex<double>());
  }
  if constexpr (narrow_float<T> && std::same_as<R, float> && may_be(type_of<T>)) {
    if (result == type_of<T>) return f(T());
  }
  return f(R());
}

}  // namespace fanin
