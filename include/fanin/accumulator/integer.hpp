// SPDX-License-Identifier: Apache-2.0
// Exact integer sums and products. finish() returns the mathematical value or throws overflow.
#pragma once

#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/error.hpp>

namespace fanin {
namespace accumulator {

namespace detail {

/// The nearest double to numerator / denominator, ties to even, for 0 < numerator <= 2^127. Doubles hold numbers of
/// up to 53 bits, and so their quotient is rounded once. Else the shifted quotient has 64 bits or more. So its last
/// bit can stand for the remainder, and only the conversion rounds.
FANIN_HOST_DEVICE inline double rounded_quotient(uint128 numerator, std::uint64_t denominator) {
  if ((numerator | denominator) >> 53 == 0) {
    return static_cast<double>(static_cast<std::uint64_t>(numerator)) / static_cast<double>(denominator);
  }
  int shift = 0;
  for (; numerator >> 127 == 0; numerator <<= 1) ++shift;
  const uint128 quotient = numerator / denominator | (numerator % denominator != 0);
  return std::ldexp(static_cast<double>(quotient), -shift);
}

/// The base of accumulators whose values are exact.
struct unrounded {
  static constexpr bool order_free = true;
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return {};
  }
};

template <class R>
R checked(bool fits, R value) {
  if (!fits)
    throw overflow(std::is_signed_v<R> ? "the result does not fit in i64" : "the result does not fit in u64");
  return value;
}

}  // namespace detail

/// Sum of Term::of(x) of integers, exact for up to 2^63 elements.
template <class T, class Term = plain_term>
struct integer_sum : detail::unrounded {
  using element = T;
  using state = int128;
  using merges_as = integer_sum<std::int64_t>;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  FANIN_HOST_DEVICE static void add(state& s, element x) { s += Term::of(x); }
  FANIN_HOST_DEVICE static void merge(state& s, state other) { s += other; }
  /// Whether R can hold the value.
  template <class R>
  FANIN_HOST_DEVICE static bool fits(state s) {
    return s == static_cast<R>(s);
  }
  /// The low bits of the value.
  template <class R>
  FANIN_HOST_DEVICE static R wrapped(state s) {
    return static_cast<R>(s);
  }
  template <class R>
  static R finish(state s, std::uint64_t) {
    return detail::checked(fits<R>(s), wrapped<R>(s));
  }
};

/// Mean of integers, correctly rounded to double.
template <class T>
struct integer_mean : integer_sum<T> {
  using folds_as = integer_sum<T>;
  template <class R>
  FANIN_HOST_DEVICE static R finish(int128 s, std::uint64_t count) {
    if (s == 0) return 0;
    const double size = detail::rounded_quotient(static_cast<uint128>(s < 0 ? -s : s), count);
    return s < 0 ? -size : size;
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return rounded_bound<R>();
  }
};

/// Sum of squares of integers. A total that reaches 2^127 stays at 2^127, since no further square makes it smaller.
template <class T>
struct integer_square_sum : detail::unrounded {
  using element = T;
  using state = uint128;
  using merges_as = integer_square_sum<std::int64_t>;
  static constexpr state limit = state{1} << 127;
  FANIN_HOST_DEVICE static constexpr state identity() { return 0; }
  template <class Integer>
  FANIN_HOST_DEVICE static void add(state& s, Integer x) {
    const auto bits = static_cast<std::uint64_t>(x), size = x < 0 ? 0 - bits : bits;
    merge(s, static_cast<uint128>(size) * size);
  }
  FANIN_HOST_DEVICE static void merge(state& s, state other) {
    const state total = s + other;
    s = (s | other | total) >= limit ? limit : total;
  }
  /// Whether R can hold the value.
  template <class R>
  FANIN_HOST_DEVICE static bool fits(state s) {
    return s <= static_cast<state>(std::numeric_limits<R>::max());
  }
  /// The low bits of the value; 0 at the limit.
  template <class R>
  FANIN_HOST_DEVICE static R wrapped(state s) {
    return static_cast<R>(s);
  }
  template <class R>
  static R finish(state s, std::uint64_t) {
    return detail::checked(fits<R>(s), wrapped<R>(s));
  }
};

/// Product of integers as sign and magnitude. So the product of 2^62, 2 and -1 is -2^63, and a zero undoes any
/// overflow.
struct integer_product_state {
  std::uint64_t magnitude;
  bool negative;
  bool too_large;
  friend bool operator==(const integer_product_state&, const integer_product_state&) = default;
};

template <class T>
struct integer_product : detail::unrounded {
  using element = T;
  using state = integer_product_state;
  using merges_as = integer_product<std::int64_t>;
  FANIN_HOST_DEVICE static constexpr state identity() { return {1, false, false}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    const auto bits = static_cast<std::uint64_t>(x);
    merge(s, {x < 0 ? 0 - bits : bits, x < 0, false});
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    const bool zero = s.magnitude == 0 || other.magnitude == 0;
    const uint128 product = static_cast<uint128>(s.magnitude) * other.magnitude;
    s.too_large = !zero && (s.too_large || other.too_large || product >> 64 != 0);
    s.magnitude = s.too_large ? 1 : static_cast<std::uint64_t>(product);
    s.negative = !zero && s.negative != other.negative;
  }
  /// Whether R can hold the value.
  template <class R>
  FANIN_HOST_DEVICE static bool fits(const state& s) {
    const auto largest = static_cast<std::uint64_t>(std::numeric_limits<R>::max()) + (s.negative ? 1 : 0);
    return !s.too_large && s.magnitude <= largest;
  }
  /// The low bits of the value; unspecified if `too_large`.
  template <class R>
  FANIN_HOST_DEVICE static R wrapped(const state& s) {
    return static_cast<R>(s.negative ? 0 - s.magnitude : s.magnitude);
  }
  template <class R>
  static R finish(const state& s, std::uint64_t) {
    return detail::checked(fits<R>(s), wrapped<R>(s));
  }
};

}  // namespace accumulator

template <std::integral T>
struct recipe_for<operation::sum, method::fast, T> : accumulator::uses<accumulator::integer_sum<T>> {};
template <std::integral T>
struct recipe_for<operation::mean, method::fast, T> : accumulator::uses<accumulator::integer_mean<T>> {};
template <std::integral T>
struct recipe_for<operation::sum_of_squares, method::fast, T>
    : accumulator::uses<accumulator::integer_square_sum<T>> {};
template <std::integral T>
struct recipe_for<operation::product, method::fast, T> : accumulator::uses<accumulator::integer_product<T>> {};

}  // namespace fanin
