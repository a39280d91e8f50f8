// SPDX-License-Identifier: Apache-2.0
// Roots of means of squares. The sums of squares are those of sum_of_squares.
#pragma once

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/exact_recipes.hpp>
#include <fanin/accumulator/sum.hpp>

namespace fanin {
namespace detail {

/// The root of a sum of squares divided by `count` > 0, rounded once to R, the format of `to`. `squares` is in units
/// of 2^low, and low is even. Nine words have more than the 127 bits left that a root needs.
template <class R, class To = float_format<R>, int Count>
FANIN_HOST_DEVICE typename To::value rounded_root_of_mean(const std::uint32_t (&squares)[Count], int low,
                                                          std::uint64_t count, To to = {}) {
  leading_words<9> quotient(squares);
  quotient.divide(count);
  return rounded_root<R>(quotient.word, low + 32 * quotient.first, quotient.sticky, to);
}

}  // namespace detail

namespace accumulator {

/// The root of the quotient of a sum of squares and the number of elements, computed in double and rounded once to R.
template <class Sum>
struct root_of_mean_of : root_of<mean_of<Sum>> {
  using folds_as = Sum;
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return rooted<R>(mean_of<Sum>::template bound<double>(chain, count));
  }
};

template <class T>
struct exact_root_of_mean : exact_square_sum<T> {
  using folds_as = exact_square_sum<T>;
  template <class R, class To = fanin::detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const exact_square_accumulator<T>& s, std::uint64_t count,
                                                     To to = {}) {
    if (!s.finite()) return s.template root<R>(to);
    typename exact_square_accumulator<T>::sum_type::words squares;
    s.total().split(squares);
    return fanin::detail::rounded_root_of_mean<R>(squares, 2 * fanin::detail::float_format<T>::low, count, to);
  }
};

/// The root of the mean of the squares of integers, correctly rounded to double.
template <class T>
struct integer_root_of_mean : integer_dispersion<T> {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const integer_moments& s, std::uint64_t count) {
    std::uint32_t squares[8];
    split_squares(s, squares);
    return fanin::detail::rounded_root_of_mean<R>(squares, 0, count);
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::root_mean_square, method::fast, T>
    : accumulator::uses<accumulator::root_of_mean_of<accumulator::plain_square_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::root_mean_square, method::compensated, T>
    : accumulator::uses<accumulator::root_of_mean_of<accumulator::compensated_square_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::root_mean_square, method::exact, T>
    : accumulator::uses<accumulator::exact_root_of_mean<T>> {};
template <std::integral T>
struct recipe_for<operation::root_mean_square, method::fast, T>
    : accumulator::uses<accumulator::integer_root_of_mean<T>> {};

}  // namespace fanin
