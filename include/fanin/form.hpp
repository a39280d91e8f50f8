// SPDX-License-Identifier: Apache-2.0
// The forms of results: one number, a number with its index, or two numbers.
#pragma once

#include <cstdint>
#include <type_traits>

#include <fanin/catalog.hpp>

namespace fanin {

/// An element and its position in the input, from 0 on.
template <element T>
struct indexed {
  T value;
  std::uint64_t index;
  friend bool operator==(const indexed&, const indexed&) = default;
};

/// The smallest and the largest element.
template <element T>
struct extremes {
  T min;
  T max;
  friend bool operator==(const extremes&, const extremes&) = default;
};

/// The form of R, and the type of its number. A bool is a number of type u8.
template <class R>
struct result_traits {
  using number = typename listed_as<R>::type;
  static constexpr result_form form = result_form::number;
};
template <class T>
struct result_traits<indexed<T>> {
  using number = T;
  static constexpr result_form form = result_form::indexed;
};
template <class T>
struct result_traits<extremes<T>> {
  using number = T;
  static constexpr result_form form = result_form::extremes;
};

/// A type in which a result may be returned.
template <class R>
concept result_value = !std::is_void_v<typename result_traits<R>::number>;

namespace detail {

template <element T, result_form Form>
using formed = std::conditional_t<Form == result_form::indexed, indexed<T>,
                                  std::conditional_t<Form == result_form::extremes, extremes<T>, T>>;

/// Returns `f.operator()<R>()`, where R is the type of a result of that form and number.
/// @throws invalid_argument if `number` is no enumerator, unsupported if there is no such result
template <class F>
constexpr auto with_formed(result_form form, element_type number, F f) {
  return with_element(number, [&]<class T>() {
    if constexpr (complex_number<T>) {
      if (form != result_form::number)
        throw unsupported("complex numbers have no order, so none is the least or the largest");
    } else {
      if (form == result_form::indexed) return f.template operator()<indexed<T>>();
      if (form == result_form::extremes) return f.template operator()<extremes<T>>();
    }
    return f.template operator()<T>();
  });
}

}  // namespace detail

/// The default type of the operation's result for elements of type T.
template <operation What, element T>
using result_of = detail::formed<element_of_type<default_result(What, type_of<T>)>, row_of(What).form>;

/// Returns `f.operator()<R>()`, where R is the type of the operation's result whose number has type `number`.
/// @throws invalid_argument if `what` or `number` is no enumerator, unsupported if there is no such result
template <class F>
constexpr auto with_result_type(operation what, element_type number, F f) {
  return detail::with_formed(row_of(what).form, number, f);
}

}  // namespace fanin
