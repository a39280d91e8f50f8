// SPDX-License-Identifier: Apache-2.0
// Sums with one rounded addition per element, their means, and roots of sums of squares.
#pragma once

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/rounded.hpp>

namespace fanin {
namespace accumulator {

/// Sum of Term::of(x) over the elements x, in T. T holds every term exactly. Error <= g(d) times the sum of the
/// terms' magnitudes, where d is the longest chain of additions [Higham 2002, 4.2].
template <class T, class Term = plain_term>
struct plain_sum {
  using element = T;
  using state = T;
  using merges_as = plain_sum<T>;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return additive_identity<T>(); }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += Term::of(x); }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
  template <class R>
  FANIN_HOST_DEVICE static R finish(state s, std::uint64_t count) {
    return count == 0 ? R{0} : canonical(s);
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    const error_bound sum = plain_sum_bound<T>(chain, count);
    return std::same_as<Term, magnitude_term> ? of_positive_terms(sum) : sum;
  }
};

/// Sum of x y in T. Each term has one more rounding than in plain_sum.
template <class T>
struct plain_dot : plain_sum<T> {
  static constexpr std::size_t inputs = 2;
  FANIN_HOST_DEVICE static void add(T& s, T x, T y) { s += rounded_product(x, y); }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return plain_sum_bound<T>(chain, count, 1);
  }
};

/// Sum of x^2 in T.
template <class T>
struct plain_square_sum : plain_dot<T> {
  static constexpr std::size_t inputs = 1;
  FANIN_HOST_DEVICE static void add(T& s, T x) { plain_dot<T>::add(s, x, x); }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return of_positive_terms(plain_dot<T>::template bound<R>(chain, count));
  }
};

/// The quotient of a sum and the number of elements, computed in double and rounded once to R.
template <class Sum>
struct mean_of : Sum {
  using folds_as = Sum;
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename Sum::state& s, std::uint64_t count) {
    const auto total = Sum::template finish<double>(s, count);
    return canonical(static_cast<R>(total / static_cast<double>(count)));
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return divided<R>(Sum::template bound<R>(chain, count));
  }
};

/// The square root of a sum of squares, computed in double and rounded once to R.
template <class Sum>
struct root_of : Sum {
  using folds_as = Sum;
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename Sum::state& s, std::uint64_t count) {
    return canonical(static_cast<R>(std::sqrt(Sum::template finish<double>(s, count))));
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return rooted<R>(Sum::template bound<R>(chain, count));
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::sum, method::fast, T> : accumulator::uses<accumulator::plain_sum<T>> {};
template <std::floating_point T>
struct recipe_for<operation::mean, method::fast, T>
    : accumulator::uses<accumulator::mean_of<accumulator::plain_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::sum_of_squares, method::fast, T> : accumulator::uses<accumulator::plain_square_sum<T>> {
};
template <std::floating_point T>
struct recipe_for<operation::norm2, method::fast, T>
    : accumulator::uses<accumulator::root_of<accumulator::plain_square_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::dot, method::fast, T> : accumulator::uses<accumulator::plain_dot<T>> {};

}  // namespace fanin
