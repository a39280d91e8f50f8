// SPDX-License-Identifier: Apache-2.0
// Whether a value is the exact sum of floats, correctly rounded. It shares no code and no method with the library:
// the positive and the negative elements are summed in two plain big integers, and a value is right if the sum lies
// between the midpoints to its neighbours, which is what "rounded to nearest, ties to even" says.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace fanin::test {

/// The bits of R, float or double.
template <class R>
struct layout {
  using word = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int fraction_bits = std::numeric_limits<R>::digits - 1;
  static constexpr int lowest = std::numeric_limits<R>::min_exponent - 1 - fraction_bits;  ///< smallest: 2^lowest
  static constexpr int fields = 2 * std::numeric_limits<R>::max_exponent - 1;  ///< exponents of finite values
  static constexpr word hidden = word{1} << fraction_bits;
  static constexpr word sign = word{1} << (8 * sizeof(R) - 1);
  static constexpr word infinity = fields * hidden;
  static constexpr word quiet_nan = infinity | hidden / 2;

  /// A finite magnitude is mantissa(m) * 2^(lowest + shift(m)).
  static constexpr word mantissa(word magnitude) {
    return magnitude < hidden ? magnitude : magnitude % hidden + hidden;
  }
  static constexpr unsigned shift(word magnitude) {
    return magnitude < hidden ? 0 : static_cast<unsigned>(magnitude / hidden) - 1;
  }
};

/// A number of at least 0 in units of 2^-1075, half the smallest double; enough words for 2^64 doubles and more.
class big_integer {
 public:
  static constexpr int lowest = layout<double>::lowest - 1;

  void add(std::uint64_t mantissa, unsigned shift) {
    const unsigned bit = shift % 64;
    std::size_t i = shift / 64;
    const std::uint64_t parts[] = {mantissa << bit, bit == 0 ? 0 : mantissa >> (64 - bit)};
    bool carry = false;
    for (const std::uint64_t part : parts) {
      const std::uint64_t sum = word_[i] + part;
      word_[i] = sum + carry;
      carry = sum < part || word_[i] < sum;
      ++i;
    }
    for (; carry; ++i) carry = ++word_[i] == 0;
  }

  friend std::strong_ordering operator<=>(const big_integer& a, const big_integer& b) {
    for (std::size_t i = a.word_.size(); i-- > 0;) {
      if (a.word_[i] != b.word_[i]) return a.word_[i] <=> b.word_[i];
    }
    return std::strong_ordering::equal;
  }

 private:
  std::array<std::uint64_t, 36> word_{};
};

class sum_oracle {
 public:
  template <class T>
  explicit sum_oracle(std::span<const T> x) : empty_(x.empty()) {
    for (const T v : x) add(v);
  }

  /// Whether `value` is the sum divided by `count`, with the signs of zeros and the NaN that the library promises.
  template <class R>
  bool accepts(R value, std::uint32_t count = 1) const {
    using of = layout<R>;
    const auto bits = std::bit_cast<typename of::word>(value);
    if (nan_ || (infinite_[0] && infinite_[1])) return bits == of::quiet_nan;
    if (infinite_[0] || infinite_[1]) return bits == (of::infinity | (infinite_[1] ? of::sign : 0));
    const auto order = sum_[0] <=> sum_[1];
    if (order == 0) return bits == (only_minus_zeros_ && !empty_ ? of::sign : 0);
    const bool negative = order < 0;
    const auto magnitude = bits & ~of::sign;
    if (negative != (bits >= of::sign) || magnitude > of::infinity) return false;
    const bool even = magnitude % 2 == 0;
    if (magnitude < of::infinity) {
      const auto below = against_midpoint<R>(negative, magnitude, count);
      if (below > 0 || (below == 0 && !even)) return false;
    }
    if (magnitude == 0) return true;
    const auto above = against_midpoint<R>(negative, magnitude - 1, count);
    return above > 0 || (above == 0 && even);
  }

 private:
  template <class T>
  void add(T x) {
    using of = layout<T>;
    const auto bits = std::bit_cast<typename of::word>(x);
    const auto magnitude = bits & ~of::sign;
    const bool negative = bits != magnitude;
    only_minus_zeros_ = only_minus_zeros_ && bits == of::sign;
    if (magnitude < of::infinity) {
      sum_[negative].add(of::mantissa(magnitude), of::shift(magnitude) + offset<T>);
    } else {
      (magnitude == of::infinity ? infinite_[negative] : nan_) = true;
    }
  }

  /// |sum| compared with count times the number halfway between `magnitude` and the next one.
  template <class R>
  std::strong_ordering against_midpoint(bool negative, typename layout<R>::word magnitude,
                                        std::uint32_t count) const {
    const std::uint64_t twice = 2 * std::uint64_t{layout<R>::mantissa(magnitude)} + 1;
    const unsigned shift = layout<R>::shift(magnitude) + offset<R> - 1;
    big_integer right = sum_[!negative];
    right.add((twice & 0xffffffff) * count, shift);
    right.add((twice >> 32) * count, shift + 32);
    return sum_[negative] <=> right;
  }

  template <class R>
  static constexpr unsigned offset = layout<R>::lowest - big_integer::lowest;

  big_integer sum_[2];  ///< sums of the positive and of the negative magnitudes
  bool infinite_[2] = {};
  bool nan_ = false;
  bool only_minus_zeros_ = true;
  bool empty_;
};

}  // namespace fanin::test
