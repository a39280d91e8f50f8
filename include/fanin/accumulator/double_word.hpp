// SPDX-License-Identifier: Apache-2.0
// Quotients and roots of long integers by pairs of doubles, for a GPU, where divisions of integers take long. A pair
// has an error of less than 2^-90 of its value. So it decides nearly always which number of a format is the nearest.
// Needs rounding to nearest.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::detail {

/// The positive number (high + low) * 2^exponent. |low| is at most a unit in the last place of `high`.
struct double_word {
  double high, low;
  int exponent;

  /// Divides by a whole number between 1 and 2^53.
  FANIN_HOST_DEVICE void divide(double by) {
    const double quotient = high / by;
    low = (std::fma(-quotient, by, high) + low) / by;
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

/// Makes a pair of the leading 117 bits or more of sum(word[i] * 2^(unit + 32 i)). Returns false if the sum is 0.
template <int Count>
FANIN_HOST_DEVICE bool lead(const std::uint32_t (&word)[Count], int unit, double_word& to) {
  int top = Count - 1;
  while (top > 0 && word[top] == 0) --top;
  if (word[top] == 0) return false;
  const auto pair = [&](int i) { return std::uint64_t{i >= 0 ? word[i] : 0} << 32 | (i >= 1 ? word[i - 1] : 0); };
  const int zeros = std::countl_zero(word[top]);
  const std::uint64_t below = pair(top - 2);
  const std::uint64_t first = pair(top) << zeros | (zeros > 0 ? below >> (64 - zeros) : 0), second = below << zeros;
  to.high = static_cast<double>(first >> 11);
  to.low = (static_cast<double>(first & 0x7ff) + static_cast<double>(second) * 0x1p-64) * 0x1p-11;
  to.exponent = unit + 32 * (top - 1) - zeros + 11;
  return true;
}

/// Sets `bits` to the number of the format `to` that is the nearest to x, and returns true. Returns false if x is too
/// near to the middle of two numbers, or if the number is not normal or near the largest ones.
template <class To>
FANIN_HOST_DEVICE bool find_nearest(const double_word& x, const To& to, typename To::bits& bits) {
  const double high = x.high + x.low, low = (x.high - high) + x.low;
  const std::uint64_t high_bits = to_bits(high), implicit_one = std::uint64_t{1} << 52;
  const int unit = x.exponent + static_cast<int>(high_bits >> 52) - 1075, dropped = 53 - to.digits;
  if (unit + 52 < to.low + to.digits || unit + 54 >= to.high) return false;
  std::uint64_t mantissa = (high_bits & (implicit_one - 1)) | implicit_one;
  if (dropped == 0) {
    const double half = from_bits<double>(high_bits >> 52 << 52) * 0x1p-53;  // of the last place
    const bool is_power_of_two = mantissa == implicit_one;  // Its neighbour below is nearer than the one above.
    if (low != 0 && (is_power_of_two || std::fabs(std::fabs(low) - half) <= half * 0x1p-20)) return false;
  } else {
    const std::uint64_t middle = (std::uint64_t{1} << dropped) / 2, rest = mantissa & (2 * middle - 1);
    if (rest + 1 >= middle && rest <= middle + 1) return false;
    mantissa = (mantissa >> dropped) + (rest > middle ? 1 : 0);
  }
  bits = static_cast<typename To::bits>((static_cast<std::uint64_t>(unit + dropped - to.low) << (to.digits - 1)) +
                                        mantissa);
  return true;
}

}  // namespace fanin::detail
