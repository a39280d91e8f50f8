// SPDX-License-Identifier: Apache-2.0
// Sums of the words of a group or column, and their values.
#pragma once

#include <array>
#include <bit>

#include <fanin/accumulator/moments.hpp>

#include "backends/cpu/batch/exact_window.hpp"
#include "backends/power_of_2.hpp"

namespace fanin::cpu {

/// Words of several states: low + high * 2^80 units.
struct total {
  detail::int128 low = 0, high = 0;

  /// The sum in two's complement.
  std::array<std::uint64_t, 3> words() const {
    const auto above = static_cast<detail::uint128>(high) << (2 * word_bits - 64);
    const auto below = static_cast<detail::uint128>(low >> 64) + above;
    return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(below),
            static_cast<std::uint64_t>(below >> 64)};
  }
  /// Sets `value` to the sum divided by `divisor`, rounded once. Returns false for a sum of more than 126 bits, and
  /// for a value that may be subnormal or infinite.
  template <class R>
  FANIN_NOINLINE bool round_short(int unit, std::uint64_t divisor, R& value) const {
    using format = detail::float_format<R>;
    const auto short_sum = static_cast<std::int64_t>(low);
    if (divisor == 1 && high == 0 && low == short_sum && unit >= format::low + format::digits &&
        unit + 64 < format::high) {
      value = static_cast<R>(double{static_cast<R>(short_sum)} * power_of_2<double>(unit));
      return true;
    }
    const detail::int128 upper = high + (low >> (2 * word_bits));
    if (upper >> 46 != upper >> 127) return false;
    const auto sum = static_cast<detail::uint128>(low) + (static_cast<detail::uint128>(high) << (2 * word_bits));
    const auto sign = static_cast<std::uint64_t>(upper >> 127);
    const auto flips = static_cast<detail::uint128>(upper >> 127);
    detail::uint128 size = (sum ^ flips) - flips;  // branches on the sign would be predicted wrongly
    value = 0;
    if (size == 0) return true;
    const auto top = static_cast<std::uint64_t>(size >> 64);
    const int zeros = std::countl_zero(top != 0 ? top : static_cast<std::uint64_t>(size)) + (top != 0 ? 0 : 64);
    size <<= zeros;
    // The quotient has 63 or 64 bits, and a last bit of 1 if it is not exact.
    const auto up = static_cast<int>(std::bit_width(divisor)) - 1;
    const detail::uint128 numerator = size >> (64 - up);
    const auto quotient = static_cast<std::uint64_t>(divisor == 1 ? numerator : numerator / divisor);
    const bool inexact = size << (64 + up) != 0 || static_cast<detail::uint128>(quotient) * divisor != numerator;
    const int exponent = unit + 64 - zeros - up;
    if (exponent < format::low + format::digits || exponent + 64 >= format::high) return false;
    const double power =
        std::bit_cast<double>(std::bit_cast<std::uint64_t>(power_of_2<double>(exponent)) | sign << 63);
    value = static_cast<R>(double{static_cast<R>(quotient | (inexact ? 1 : 0))} * power);
    return true;
  }
  /// The lowest words of a sum that is not negative.
  template <int N>
  void split(std::uint32_t (&magnitude)[N]) const {
    const auto all = words();
    for (std::size_t i = 0; i < N; ++i) magnitude[i] = static_cast<std::uint32_t>(all[i / 2] >> (32 * (i % 2)));
  }
  total magnitude() const { return (high + (low >> (2 * word_bits))) < 0 ? total{-low, -high} : *this; }
  /// Adds the sum of `count` elements or squares.
  template <class Accumulator>
  FANIN_NOINLINE void add_to(Accumulator& into, int unit, std::uint64_t count) const {
    if (count == 0) return;
    into.add_elements(count, [&](Accumulator& all) {
      all.add_scaled(low, unit);
      all.add_scaled(high, unit + 2 * word_bits);
    });
  }
};
struct totals {
  total elements, squares;
  std::uint64_t count = 0;
};

inline dispersion_measure measure_of(operation what) {
  return {is_root(row_of(what).value), least_count(what) > 1 ? 1U : 0U};
}

template <class R>
FANIN_NOINLINE R value_of_moments(const totals& all, int unit, operation what) {
  std::uint32_t squares[6], sum[4];
  all.squares.split(squares);
  const operation_row& row = row_of(what);
  if (row.adds == summand::squares) {
    return is_root(row.value) ? detail::rounded_root<R>(squares, 2 * unit)
                              : detail::from_bits<R>(detail::round_magnitude<R>(squares, 2 * unit, false));
  }
  all.elements.magnitude().split(sum);
  return detail::rounded_dispersion<R>(sum, squares, 2 * unit, all.count, measure_of(what));
}

}  // namespace fanin::cpu
