// SPDX-License-Identifier: Apache-2.0
// The part that all verbs share. The verbs call reduce() for inputs and results of types that the compiler knows,
// or refuse them. Each refusal is one static_assert. The verb then has the type result<double>, so that no other
// error follows.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>

#include <fanin/batch.hpp>
#include <fanin/elements.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Reduces inputs; fanin.hpp describes it.
FANIN_API report reduce(operation what, const input_views& inputs, const result_view& value, const options& chosen);

namespace detail {

/// The type of a verb's value: bool for a truth.
template <operation What, class T>
using value_of_verb = std::conditional_t<row_of(What).result == result_rule::truth, bool, result_of<What, T>>;

/// Whether some method gives an R for elements of type T. If not, the compiler says so.
template <operation What, class T, class R>
consteval bool checked_result() {
  constexpr bool gives = [] {
    if constexpr (result_value<R>) {
      constexpr element_type number = type_of<typename result_traits<R>::number>;
      return result_traits<R>::form == row_of(What).form && (is_result(What, type_of<T>, method::fast, number) ||
                                                             is_result(What, type_of<T>, method::exact, number));
    } else {
      return false;
    }
  }();
  static_assert(
      gives,
      "no method gives a result of this type: fanin/catalog.hpp lists the types. Where the list says float, "
      "method::exact also gives double and the element's type");
  return gives;
}

/// Whether a verb takes these inputs. If not, the compiler says so.
template <class X, class... Other>
consteval bool checked_inputs() {
  if constexpr (std::same_as<X, batch>) {
    static_assert(
        never<X>,
        "rows, segments and groups have many results: pass the std::vector or std::span of these results as "
        "the second argument");
    return false;
  } else if constexpr (checked_elements<X>() && (checked_elements<Other>() && ...)) {
    constexpr bool alike = (std::same_as<element_of<X>, element_of<Other>> && ...);
    static_assert(alike, "the two inputs have different types: convert one of them");
    return alike;
  } else {
    return false;
  }
}

template <operation What, class Result, choice C, class X, class... Other>
auto typed_reduce(const C& chosen, const X& x, const Other&... y) {
  if constexpr (checked_inputs<X, Other...>()) {
    using T = element_of<X>;
    using R = std::conditional_t<std::is_void_v<Result>, value_of_verb<What, T>, Result>;
    if constexpr (checked_result<What, T, R>()) {
      const input_views inputs = views_of(x, y...);
      return result<R>([&](R& value) { return reduce(What, inputs, value, options_of(chosen)); });
    } else {
      return result<double>();
    }
  } else {
    return result<double>();
  }
}

/// Refuses a call that no verb takes. `Call` differs from call to call where it can, because a compiler reports each
/// instance once.
template <class... Call>
auto refuse_arguments() {
  static_assert(
      never<Call...>,
      "a verb takes numbers (a vector, a list in braces, two iterators, or a pointer and a count), and then "
      "a method or options, as in fanin::sum(x, fanin::fast) or fanin::sum(x, {.threads = 4}), but no "
      "initial value, function, axis or execution policy");
  return result<double>();
}

/// The memory for the results of a batch.
template <class Out>
results_view results_of(Out& out) {
  constexpr bool taken = std::convertible_to<Out&, results_view>;
  static_assert(taken,
                "the results of rows, segments and groups are written to a std::vector, std::span or the like, whose "
                "elements have the type that the verb gives for one array");
  if constexpr (taken) {
    return out;
  } else {
    return {nullptr, 0, element_type::f64};
  }
}

}  // namespace detail

}  // namespace fanin
