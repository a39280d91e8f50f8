// SPDX-License-Identifier: Apache-2.0
// Dot products of integers: exact sums of exact products, rounded once to double.
#pragma once

#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/accumulator/integer.hpp>

namespace fanin {
namespace accumulator {

/// The sum of up to 2^63 products of integers of 64 bits, in two's complement of 192 bits.
struct integer_products {
  uint128 low;
  std::int64_t high;  ///< the bits from 2^128 up, and the sign
};

/// Sum of x y of integers, correctly rounded to double.
template <class T>
struct integer_dot {
  using element = T;
  using state = integer_products;
  using merges_as = integer_dot<std::int64_t>;
  static constexpr std::size_t inputs = 2;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, element x, element y) {
    const uint128 product = static_cast<uint128>(magnitude_of(x)) * magnitude_of(y);
    const bool negative = (x < 0) != (y < 0) && product != 0;
    merge(s, {negative ? 0 - product : product, negative ? -1 : 0});
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.low += other.low;
    s.high += other.high + (s.low < other.low ? 1 : 0);
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t) {
    const bool negative = s.high < 0;
    const uint128 low = negative ? 0 - s.low : s.low;
    const auto high = static_cast<std::uint64_t>(negative ? ~s.high + (s.low == 0 ? 1 : 0) : s.high);
    std::uint32_t words[6];
    for (int i = 0; i < 4; ++i) words[i] = static_cast<std::uint32_t>(low >> (32 * i));
    for (int i = 0; i < 2; ++i) words[4 + i] = static_cast<std::uint32_t>(high >> (32 * i));
    const fanin::detail::float_format<double> to;
    const double size = to.made_of(fanin::detail::round_magnitude<double>(words, 0, false, to));
    return static_cast<R>(negative ? -size : size);
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return rounded_bound<R>();
  }

 private:
  FANIN_HOST_DEVICE static std::uint64_t magnitude_of(element x) {
    const auto bits = static_cast<std::uint64_t>(x);
    return x < 0 ? 0 - bits : bits;
  }
};

}  // namespace accumulator

template <std::integral T>
struct recipe_for<operation::dot, method::fast, T> : accumulator::uses<accumulator::integer_dot<T>> {};
template <std::integral T>
struct recipe_for<operation::vdot, method::fast, T> : accumulator::uses<accumulator::integer_dot<T>> {};

}  // namespace fanin
