// SPDX-License-Identifier: Apache-2.0
// Sums that also add up their rounding errors: a state is the pair of a sum and the sum of its rounding errors.
#pragma once

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/rounded.hpp>
#include <fanin/accumulator/sum.hpp>

namespace fanin {
namespace accumulator {

template <class T>
struct compensated_state {
  T sum;
  T error;
};

/// Returns s = fl(a + b), and sets e so that s + e = a + b exactly. Needs round to nearest. [Knuth; Ogita, Rump,
/// Oishi 2005]
template <class T>
FANIN_HOST_DEVICE inline T two_sum(T a, T b, T& e) {
  const T s = a + b;
  const T from_b = s - a;
  e = (a - (s - from_b)) + (b - from_b);
  return s;
}

/// Compensated sum of Term::of(x), which T holds exactly. Error <= u |S| + (1 + u) g(d) g(d') sum|x|, where d and
/// d' are the longest chains of additions into `sum` and into `error` (docs/numerics.md). Merges are compensated
/// as well.
template <class T, class Term = plain_term>
struct compensated_sum {
  using element = T;
  using state = compensated_state<T>;
  using merges_as = compensated_sum<T>;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return {additive_identity<T>(), additive_identity<T>()}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    T e;
    s.sum = two_sum(s.sum, Term::of(x), e);
    s.error += e;
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    T e;
    s.sum = two_sum(s.sum, other.sum, e);
    s.error = (s.error + other.error) + e;
  }
  /// An infinity or NaN makes `error` NaN. Then the value is `sum`, as plain additions give it.
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count) {
    if (count == 0) return R{0};
    if (!std::isfinite(s.sum) || !std::isfinite(s.error)) return static_cast<R>(canonical(s.sum));
    return static_cast<R>(s.error == 0 ? R{s.sum} : R{s.sum} + R{s.error});
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    const error_bound sum = compensated_sum_bound<T>(chain, count);
    return std::same_as<Term, magnitude_term> ? of_positive_terms(sum) : sum;
  }
};

/// Compensated sum of x y. A fused multiply-add gives the rounding error of each product, which is added, too.
template <class T>
struct compensated_dot : compensated_sum<T> {
  static constexpr std::size_t inputs = 2;
  FANIN_HOST_DEVICE static void add(compensated_state<T>& s, T x, T y) {
    const T p = rounded_product(x, y);
    const T product_error = std::fma(x, y, -p);
    T e;
    s.sum = two_sum(s.sum, p, e);
    s.error += e + product_error;
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return compensated_sum_bound<T>(chain, count, 1);
  }
};

/// Compensated sum of x^2.
template <class T>
struct compensated_square_sum : compensated_dot<T> {
  static constexpr std::size_t inputs = 1;
  FANIN_HOST_DEVICE static void add(compensated_state<T>& s, T x) { compensated_dot<T>::add(s, x, x); }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    return of_positive_terms(compensated_dot<T>::template bound<R>(chain, count));
  }
};

}  // namespace accumulator

template <std::floating_point T>
struct recipe_for<operation::sum, method::compensated, T> : accumulator::uses<accumulator::compensated_sum<T>> {};
template <std::floating_point T>
struct recipe_for<operation::mean, method::compensated, T>
    : accumulator::uses<accumulator::mean_of<accumulator::compensated_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::sum_of_squares, method::compensated, T>
    : accumulator::uses<accumulator::compensated_square_sum<T>> {};
template <std::floating_point T>
struct recipe_for<operation::norm2, method::compensated, T>
    : accumulator::uses<accumulator::root_of<accumulator::compensated_square_sum<T>>> {};
template <std::floating_point T>
struct recipe_for<operation::dot, method::compensated, T> : accumulator::uses<accumulator::compensated_dot<T>> {};

}  // namespace fanin
