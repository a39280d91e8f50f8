// SPDX-License-Identifier: Apache-2.0
// Numbers that are never rounded, and whether a float is the one nearest to such a number. By MPFR.
#pragma once

#include <mpfr.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include <fanin/accumulator/moments.hpp>

#include "tests/support/call.hpp"

namespace fanin::test {

/// Sums, differences and products, all exact: a result that does not fit is an exception.
class exact_number {
 public:
  exact_number() : exact_number(0.0) {}
  exact_number(double value) {
    mpfr_init2(value_, 4500);
    exactly(mpfr_set_d(value_, value, MPFR_RNDN));
  }
  exact_number(const exact_number& other) : exact_number() { *this = other; }
  ~exact_number() { mpfr_clear(value_); }
  exact_number& operator=(const exact_number& other) { return exactly(mpfr_set(value_, other.value_, MPFR_RNDN)); }

  exact_number& operator+=(const exact_number& other) {
    return exactly(mpfr_add(value_, value_, other.value_, MPFR_RNDN));
  }
  exact_number& operator-=(const exact_number& other) {
    return exactly(mpfr_sub(value_, value_, other.value_, MPFR_RNDN));
  }
  exact_number& operator*=(const exact_number& other) {
    return exactly(mpfr_mul(value_, value_, other.value_, MPFR_RNDN));
  }
  friend exact_number operator*(exact_number a, const exact_number& b) { return a *= b; }
  friend exact_number operator-(exact_number a, const exact_number& b) { return a -= b; }

  /// 2^exponent times as much.
  exact_number scaled(int exponent) const {
    exact_number result;
    result.exactly(mpfr_mul_2si(result.value_, value_, exponent, MPFR_RNDN));
    return result;
  }

  static exact_number of(std::uint64_t value) {
    exact_number result;
    result.exactly(mpfr_set_ui(result.value_, value, MPFR_RNDN));
    return result;
  }

  /// The value of an integer of 128 bits.
  static exact_number of(detail::int128 value) {
    const auto size = static_cast<detail::uint128>(value < 0 ? -value : value);
    exact_number result = of(static_cast<std::uint64_t>(size >> 64)).scaled(64);
    result += of(static_cast<std::uint64_t>(size));
    return value < 0 ? exact_number(0) - result : result;
  }

  /// The double nearest to this number divided by `divisor`, or with `root` to the square root of that. The quotient
  /// has 4500 bits: it is a tie only if the number is.
  double over(const exact_number& divisor, bool root = false) const {
    mpfr_t quotient;
    mpfr_init2(quotient, 4500);
    mpfr_div(quotient, value_, divisor.value_, MPFR_RNDN);
    if (root) mpfr_sqrt(quotient, quotient, MPFR_RNDN);
    const double nearest = mpfr_get_d(quotient, MPFR_RNDN);
    mpfr_clear(quotient);
    return nearest;
  }

  /// The sum in the bytes that save() of an exact accumulator wrote, in units of its last bit
  /// (docs/exact-format.md).
  static exact_number saved(std::span<const std::byte> bytes) {
    constexpr std::size_t header = 16, checksum = 4;
    bytes = bytes.first(bytes.size() - checksum);
    exact_number result;
    for (std::size_t i = bytes.size(); i-- > header;) {
      const int byte = std::to_integer<int>(bytes[i]);
      const bool sign = i + 1 == bytes.size() && byte >= 128;
      result = result.scaled(8);
      result += byte - (sign ? 256 : 0);
    }
    return result;
  }

  /// The sign of a - b.
  friend int compare(const exact_number& a, const exact_number& b) { return mpfr_cmp(a.value_, b.value_); }

 private:
  exact_number& exactly(int ternary) {
    if (ternary != 0) throw std::logic_error("an exact number was rounded");
    return *this;
  }

  mpfr_t value_;
};

/// The next number of R below or above.
template <class R>
R beside(R value, bool above) {
  if constexpr (narrow_float<R>) {
    if (value == 0) return R::of_bits(above ? 1u : R::sign_bit | 1u);
    return R::of_bits(value.bits + (above == (value > 0) ? 1u : ~0u));
  } else {
    constexpr R infinity = std::numeric_limits<R>::infinity();
    return std::nextafter(value, above ? infinity : -infinity);
  }
}

/// Whether `value` is the R nearest to a number S, ties to even, where sign(m) is the sign of S - m. Infinity stands
/// for 2^max_exponent, as rounding takes it. Says nothing about the sign of a zero.
template <class R, class Sign>
bool is_nearest(R value, Sign sign) {
  using limits = std::numeric_limits<R>;
  const R inf = limits::infinity(), minus_inf = static_cast<R>(-inf);
  const auto ideal = [](R v) {
    return std::isinf(v) ? exact_number(v > 0 ? 1 : -1).scaled(limits::max_exponent)
                         : exact_number(static_cast<double>(v));
  };
  const auto midpoint = [&](R a, R b) {
    exact_number sum = ideal(a);
    sum += ideal(b);
    return sum.scaled(-1);
  };
  if (std::isnan(value)) return false;
  const bool even = bits_of(value) % 2 == 0;
  const int above = value == minus_inf ? 1 : sign(midpoint(beside(value, false), value));
  const int below = value == inf ? -1 : sign(midpoint(value, beside(value, true)));
  return (above > 0 || (above == 0 && even)) && (below < 0 || (below == 0 && even));
}

/// Whether `value` is the square root of `square`, rounded once, and not -0.
template <class R>
bool is_root(R value, const exact_number& square) {
  return !std::signbit(value) &&
         is_nearest(value, [&](const exact_number& m) { return compare(m, 0) < 0 ? 1 : compare(square, m * m); });
}

/// Whether `value` is that dispersion of `count` > ddof numbers with these sums, rounded once, and not -0.
template <class R>
bool is_dispersion(R value, const exact_number& sum, const exact_number& squares, std::uint64_t count,
                   dispersion_measure wanted) {
  const exact_number n = exact_number::of(count);
  const exact_number numerator = n * squares - sum * sum;
  const exact_number denominator = n * exact_number::of(count - wanted.ddof);
  return !std::signbit(value) && is_nearest(value, [&](const exact_number& m) {
    if (wanted.root && compare(m, 0) < 0) return 1;
    return compare(numerator, denominator * (wanted.root ? m * m : m));
  });
}

}  // namespace fanin::test
