// SPDX-License-Identifier: Apache-2.0
// Quotients and roots of long integers by pairs of doubles, for a GPU, where divisions of integers take long. A pair
// has an error of less than 2^-90 of its value. So it decides nearly always which number of a format is the nearest.
// Needs rounding to nearest.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::cuda {

/// The positive number (high + low) * 2^exponent. |low| is at most 2^-50 of `high`.
struct double_word {
  double high, low;
  int exponent;

  /// Divides by a whole number between 1 and 2^53.
  FANIN_HOST_DEVICE void divide(double by) {
    const double inverse = 1 / by, quotient = high * inverse;
    low = (std::fma(-quotient, by, high) + low) * inverse;
    high = quotient;
  }
  FANIN_HOST_DEVICE void take_root() {
    if (exponent % 2 != 0) high *= 2, low *= 2, --exponent;
    const double root = std::sqrt(high);
    low = (std::fma(-root, root, high) + low) / (2 * root);
    high = root;
    exponent /= 2;
  }
};

/// Makes a pair of the leading 97 bits or more of sum(word[i] * 2^(unit + 32 i)). Returns false if the sum is 0.
/// Indices are constants, so that a GPU keeps the words in registers.
template <int Count>
FANIN_HOST_DEVICE bool lead(const std::uint32_t (&word)[Count], int unit, double_word& to) {
  std::uint32_t top[Count + 3] = {};
  for (int i = 0; i < Count; ++i) top[3 + i] = word[i];
  unit += 32 * (Count - 2);
  for (int step = 1; step < Count; ++step) {
    if (top[Count + 2] != 0) continue;
    for (int i = Count + 2; i > 0; --i) top[i] = top[i - 1];
    unit -= 32;
  }
  if (top[Count + 2] == 0) return false;
  const int zeros = std::countl_zero(top[Count + 2]);
  const std::uint64_t above = std::uint64_t{top[Count + 2]} << 32 | top[Count + 1];
  const std::uint64_t below = std::uint64_t{top[Count]} << 32 | top[Count - 1];
  const std::uint64_t first = above << zeros | below >> 1 >> (63 - zeros), second = below << zeros;
  to.high = static_cast<double>(first >> 11);
  to.low = (static_cast<double>(first & 0x7ff) + static_cast<double>(second) * 0x1p-64) * 0x1p-11;
  to.exponent = unit - zeros + 11;
  return true;
}

/// Sets numerator = count * squares - sum^2, which is not negative, with constant indices. So sum^2 has no more words
/// than the product.
template <int N, int M>
FANIN_HOST_DEVICE void subtract_in_registers(const std::uint32_t (&sum)[N], const std::uint32_t (&squares)[M],
                                             std::uint32_t count, std::uint32_t (&numerator)[M + 1]) {
  std::uint32_t square[2 * N] = {};
  for (int i = 0; i < N; ++i) {
    std::uint64_t carry = 0;
    for (int j = 0; j < N; ++j) {
      carry += std::uint64_t{sum[i]} * sum[j] + square[i + j];
      square[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    square[i + N] = static_cast<std::uint32_t>(carry);
  }
  std::uint64_t carry = 0;
  std::uint32_t borrow = 0;
  for (int i = 0; i <= M; ++i) {
    carry += std::uint64_t{i < M ? squares[i < M ? i : 0] : 0} * count;
    const std::uint64_t less = std::uint64_t{i < 2 * N ? square[i < 2 * N ? i : 0] : 0} + borrow;
    const std::uint64_t rest = static_cast<std::uint32_t>(carry) - less;
    numerator[i] = static_cast<std::uint32_t>(rest);
    borrow = static_cast<std::uint32_t>(rest >> 63);
    carry >>= 32;
  }
}

/// Sets `bits` to the number of the format `to` that is the nearest to x, and returns true. Returns false if x is too
/// near to the middle of two numbers, or if the number is not normal or near the largest ones.
template <class To>
FANIN_HOST_DEVICE bool find_nearest(const double_word& x, const To& to, typename To::bits& bits) {
  const double high = x.high + x.low, low = (x.high - high) + x.low;
  const std::uint64_t high_bits = detail::to_bits(high), implicit_one = std::uint64_t{1} << 52;
  const int unit = x.exponent + static_cast<int>(high_bits >> 52) - 1075, dropped = 53 - to.digits;
  if (unit + 52 < to.low + to.digits || unit + 54 >= to.high) return false;
  std::uint64_t mantissa = (high_bits & (implicit_one - 1)) | implicit_one;
  if (dropped == 0) {
    const double half = detail::from_bits<double>(high_bits >> 52 << 52) * 0x1p-53;  // of the last place
    const bool is_power_of_two = mantissa == implicit_one;  // Its neighbour below is nearer than the one above.
    const double distance = std::fabs(low);
    if (distance > half / 4 && (is_power_of_two || std::fabs(distance - half) <= half * 0x1p-20)) return false;
  } else {
    const std::uint64_t middle = (std::uint64_t{1} << dropped) / 2, rest = mantissa & (2 * middle - 1);
    if (rest + 1 >= middle && rest <= middle + 1) return false;
    mantissa = (mantissa >> dropped) + (rest > middle ? 1 : 0);
  }
  bits = static_cast<typename To::bits>((static_cast<std::uint64_t>(unit + dropped - to.low) << (to.digits - 1)) +
                                        mantissa);
  return true;
}

}  // namespace fanin::cuda
