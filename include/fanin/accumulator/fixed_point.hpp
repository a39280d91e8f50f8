// SPDX-License-Identifier: Apache-2.0
// A signed fixed-point number so wide that adding floating-point numbers to it never rounds.
// Invariants
// 1. The value is the sum of limb_[i] * 2^(Low + 32 i). A limb is 32 bits of payload in a signed 64-bit carrier, so
//    additions and merges need no carries.
// 2. |limb_[i]| <= (pending_ + 1) * 2^32. Carries are propagated when pending_ reaches 2^29, so that even the sum of
//    two carriers stays below 2^62.
// 3. After propagate() every limb but the last lies in [0, 2^32) and the last has the sign of the value. This form is
//    unique: it depends on the value only.
//
// All arithmetic is on integers, so the rounding mode and the flushing of subnormals (FTZ, DAZ) have no effect.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/int128.hpp>
#include <fanin/narrow_float.hpp>

namespace fanin::detail {

/// The layout of the format R. A rounding to the format returns a `value`. made_of() makes a value from its bits.
template <floating R>
struct float_format {
  using bits = std::conditional_t<sizeof(R) == 8, std::uint64_t, std::uint32_t>;
  using value = R;
  static constexpr int digits = std::numeric_limits<R>::digits;
  static constexpr int low = std::numeric_limits<R>::min_exponent - digits;  ///< 2^low: the smallest subnormal
  static constexpr int high = std::numeric_limits<R>::max_exponent;          ///< all finite values are below 2^high
  static constexpr bits sign = bits{1} << (8 * sizeof(R) - 1);
  static constexpr bits implicit_one = bits{1} << (digits - 1);
  static constexpr bits infinity = bits{2 * high - 1} << (digits - 1);
  static constexpr bits quiet_nan = infinity | bits{1} << (digits - 2);
  static constexpr bool has_infinity = true;
  FANIN_HOST_DEVICE static R made_of(bits from) {
    R made;
    std::memcpy(&made, &from, sizeof made);
    return made;
  }
};
template <narrow_float R>
struct float_format<R> {
  using bits = typename R::word;
  using value = R;
  static constexpr int digits = std::numeric_limits<R>::digits;
  static constexpr int low = std::numeric_limits<R>::min_exponent - digits;
  static constexpr int high = std::numeric_limits<R>::max_exponent;
  static constexpr bits sign = R::sign_bit, infinity = R::after_largest, quiet_nan = R::quiet_nan;
  static constexpr bool has_infinity = R::has_infinity;
  FANIN_HOST_DEVICE static R made_of(bits from) { return R::of_bits(from); }
};
/// A layout that is known at run time, in place of a float_format. Its values are bits.
struct number_format {
  using bits = std::uint64_t;
  using value = bits;
  int digits, low, high;
  bits sign, infinity, quiet_nan;
  bool has_infinity;
  template <class R>
  static constexpr number_format of() {
    using known = float_format<R>;
    return {known::digits,   known::low,       known::high,        known::sign,
            known::infinity, known::quiet_nan, known::has_infinity};
  }
  FANIN_HOST_DEVICE static value made_of(bits from) { return from; }
};

template <class R>
FANIN_HOST_DEVICE inline R from_bits(typename float_format<R>::bits bits) {
  return float_format<R>::made_of(bits);
}

template <class R>
FANIN_HOST_DEVICE inline typename float_format<R>::bits to_bits(R value) {
  typename float_format<R>::bits bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The magnitude of a finite number: |x| is mantissa * 2^exponent.
struct scaled_mantissa {
  std::uint64_t mantissa;
  int exponent;
};

/// The mantissa and exponent of a finite x. `magnitude` has the bits of |x|.
template <class T>
FANIN_HOST_DEVICE inline scaled_mantissa unpack(typename float_format<T>::bits magnitude) {
  using format = float_format<T>;
  const auto biased = static_cast<int>(magnitude >> (format::digits - 1));
  const std::uint64_t fraction = magnitude & (format::implicit_one - 1);
  return {biased == 0 ? fraction : fraction | format::implicit_one, format::low + (biased == 0 ? 0 : biased - 1)};
}

/// The leading words of a number, from its most significant word that is not 0 down. The words are the number
/// sum(word[i] * 2^(32 (first + i))). `sticky` says whether bits below these words are not 0.
template <int Count>
struct leading_words {
  std::uint32_t word[Count];
  int first = 0;  ///< negative if the number has fewer words; the words below them are 0
  bool sticky = false;

  /// Takes the leading words of x, whose least significant word comes first.
  template <int N>
  FANIN_HOST_DEVICE explicit leading_words(const std::uint32_t (&x)[N]) {
    int top = N - 1;
    while (top > 0 && x[top] == 0) --top;
    first = top - (Count - 1);
    for (int i = 0; i < Count; ++i) word[i] = first + i >= 0 ? x[first + i] : 0;
    for (int i = 0; i < first && !sticky; ++i) sticky = x[i] != 0;
  }

  /// Divides the number by `divisor` > 0. With Count words a nonzero quotient has more than 32 Count - 96 bits.
  FANIN_HOST_DEVICE FANIN_NOINLINE void divide(std::uint64_t divisor) {
    std::uint64_t remainder = 0;
    FANIN_ROLLED for (int i = Count - 1; i >= 0; --i) {
      if (divisor >> 32 == 0) {
        const std::uint64_t part = remainder << 32 | word[i];
        word[i] = static_cast<std::uint32_t>(part / divisor);
        remainder = part % divisor;
      } else {
        const uint128 part = static_cast<uint128>(remainder) << 32 | word[i];
        word[i] = static_cast<std::uint32_t>(part / divisor);
        remainder = static_cast<std::uint64_t>(part % divisor);
      }
    }
    sticky = sticky || remainder != 0;
  }
};

/// Rounds the magnitude sum(limb[i] * 2^(low + 32 i)) once to R, and returns the bits without a sign. `to` is the
/// format of R. The rounding is to nearest, ties to even, with gradual underflow.
/// - With `sticky` an unknown amount below 2^low belongs to the magnitude, which must then have more bits than R.
/// - A magnitude of 2^high minus half a unit, or more, becomes infinity.
/// - In a format without infinity, a magnitude of more than the largest number and half a unit becomes NaN.
template <class R, class To = float_format<R>, int Count>
FANIN_HOST_DEVICE FANIN_NOINLINE typename To::bits round_magnitude(const std::uint32_t (&limb)[Count], int low,
                                                                   bool sticky, To to = {}) {
  int top = Count - 1;
  while (top > 0 && limb[top] == 0) --top;
  if (limb[top] == 0) return 0;
  int leading = 32 * top + 31;
  while ((limb[top] >> (leading % 32)) == 0) --leading;
  if (low + leading >= to.high) return to.infinity;

  const int normal_unit = low + leading - (to.digits - 1);
  const int unit = normal_unit > to.low ? normal_unit : to.low;
  const int kept = unit - low;  // index of the last bit that is kept
  if (kept > leading + 1) return 0;
  const int first = kept > 0 ? kept / 32 : 0;
  uint128 window = 0;
  for (int i = 2; i >= 0; --i) window = window << 32 | (first + i < Count ? limb[first + i] : 0);
  std::uint64_t mantissa =
      kept > 0 ? static_cast<std::uint64_t>(window >> (kept % 32)) : static_cast<std::uint64_t>(window) << -kept;
  if (kept > 0) {
    const int guard = kept - 1;
    const std::uint32_t half = std::uint32_t{1} << (guard % 32);
    sticky = sticky || (limb[guard / 32] & (half - 1)) != 0;
    for (int i = 0; i < guard / 32 && !sticky; ++i) sticky = limb[i] != 0;
    if ((limb[guard / 32] & half) != 0 && (sticky || mantissa % 2 != 0)) ++mantissa;
  }
  // A mantissa that was rounded up to the next power of two carries into the exponent. From the largest exponent
  // it carries to infinity. In a format without infinity it can carry beyond NaN.
  const std::uint64_t rounded = (static_cast<std::uint64_t>(unit - to.low) << (to.digits - 1)) + mantissa;
  return !to.has_infinity && rounded > to.infinity ? to.infinity : static_cast<typename To::bits>(rounded);
}

/// A multiple of 2^Low, wide enough for sums of up to 2^63 numbers that are each below 2^High in magnitude.
template <int Low, int High>
class fixed_point {
 public:
  static constexpr int limb_count = (High - Low + 64 + 31) / 32;
  static constexpr int lowest_exponent = Low;
  using words = std::uint32_t[limb_count];
  /// The number 0.
  FANIN_HOST_DEVICE constexpr fixed_point() { FANIN_PARTLY_ROLLED for (int i = 0; i < limb_count; ++i) limb_[i] = 0; }

  /// Adds magnitude * 2^exponent, or if `negative`, subtracts it. Low <= exponent < High.
  FANIN_HOST_DEVICE void add_magnitude(std::uint64_t magnitude, int exponent, bool negative) {
    const int position = exponent - Low;
    const uint128 shifted = static_cast<uint128>(magnitude) << (position % 32);
    const std::int64_t sign = negative ? -1 : 0;
    std::int64_t* limb = limb_ + position / 32;
    limb[0] += (static_cast<std::int64_t>(shifted & payload_mask) ^ sign) - sign;
    limb[1] += (static_cast<std::int64_t>(shifted >> 32 & payload_mask) ^ sign) - sign;
    limb[2] += (static_cast<std::int64_t>(shifted >> 64) ^ sign) - sign;
    count_additions(1);
  }

  /// Adds the sum of digit[i] * 2^(Low + 32 i).
  template <std::size_t N>
  void add_digits(const std::int64_t (&digit)[N]) {
    static_assert(N < limb_count);
    limb_[0] += digit[0] & payload_mask;
    for (std::size_t i = 1; i < N; ++i) limb_[i] += (digit[i] & payload_mask) + (digit[i - 1] >> 32);
    limb_[N] += digit[N - 1] >> 32;
    count_additions(2);
  }

  /// Adds value * 2^exponent, which is a multiple of 2^Low and below 2^(High + 63). exponent < High + 63.
  FANIN_HOST_DEVICE void add_scaled(int128 value, int exponent) {
    const bool negative = value < 0;
    uint128 magnitude = negative ? -static_cast<uint128>(value) : static_cast<uint128>(value);
    if (exponent < Low) {
      magnitude >>= Low - exponent;
      exponent = Low;
    }
    const int position = exponent - Low;
    std::int64_t* limb = limb_ + position / 32;
    std::int64_t payload = static_cast<std::int64_t>(magnitude << (position % 32) & payload_mask);
    for (magnitude >>= 32 - position % 32;; magnitude >>= 32) {
      *limb++ += negative ? -payload : payload;
      if (magnitude == 0) break;
      payload = static_cast<std::int64_t>(magnitude & payload_mask);
    }
    count_additions(1);
  }

  FANIN_HOST_DEVICE void merge(const fixed_point& other) {
    FANIN_PARTLY_ROLLED for (int i = 0; i < limb_count; ++i) limb_[i] += other.limb_[i];
    pending_ += other.pending_;
    count_additions(1);
  }

  /// Adds a number of another range. The number has to be a multiple of 2^Low, and below 2^(High + 63).
  template <int OtherLow, int OtherHigh>
  FANIN_HOST_DEVICE void add_number(const fixed_point<OtherLow, OtherHigh>& other) {
    typename fixed_point<OtherLow, OtherHigh>::words magnitude;
    const bool negative = other.split(magnitude);
    int exponent = OtherLow;
    for (const std::uint32_t word : magnitude) {
      if (word != 0) add_scaled(negative ? -static_cast<int128>(word) : static_cast<int128>(word), exponent);
      exponent += 32;
    }
  }

  /// Restores invariant 3.
  FANIN_HOST_DEVICE void propagate() {
    std::int64_t carry = 0;
    FANIN_ROLLED for (int i = 0; i + 1 < limb_count; ++i) {
      const std::int64_t sum = limb_[i] + carry;
      limb_[i] = sum & payload_mask;
      carry = sum >> 32;
    }
    limb_[limb_count - 1] += carry;
    pending_ = 0;
  }

  /// The value rounded once to R, the format of `to`. Zero gives +0.
  template <class R, class To = float_format<R>>
  FANIN_HOST_DEVICE typename To::value round(To to = {}) const {
    return with_sign(to,
                     [to](const auto& magnitude, int low) { return round_magnitude<R>(magnitude, low, false, to); });
  }

  /// The value divided by `count` > 0 and rounded once to R, the format of `to`. Zero gives +0.
  template <class R, class To = float_format<R>>
  FANIN_HOST_DEVICE typename To::value round_quotient(std::uint64_t count, To to = {}) const {
    return with_sign(to, [count, to](const auto& magnitude, int low) {
      leading_words<5> quotient(magnitude);
      quotient.divide(count);
      return round_magnitude<R>(quotient.word, low + 32 * quotient.first, quotient.sticky, to);
    });
  }

  /// The value in two's complement, in units of 2^Low, least significant word first.
  FANIN_HOST_DEVICE void to_words(words& out) const {
    fixed_point copy = *this;
    copy.propagate();
    for (int i = 0; i < limb_count; ++i) out[i] = static_cast<std::uint32_t>(copy.limb_[i]);
  }

  FANIN_HOST_DEVICE static fixed_point from_words(const words& in) {
    fixed_point value;
    for (int i = 0; i < limb_count; ++i) value.limb_[i] = in[i];
    value.limb_[limb_count - 1] = static_cast<std::int32_t>(in[limb_count - 1]);
    return value;
  }

  /// The value sum(lanes[i] * 2^(Low + 32 i)) in two's complement. Returns false if it does not fit.
  static bool to_words(const std::int64_t (&lanes)[limb_count], words& out) {
    int128 carry = 0;
    for (int i = 0; i < limb_count; ++i) {
      carry += lanes[i];
      out[i] = static_cast<std::uint32_t>(carry);
      if (i + 1 < limb_count) carry >>= 32;
    }
    return carry == static_cast<std::int32_t>(out[limb_count - 1]);
  }

  /// The largest number of values whose lanes may be added: see write_lanes().
  static constexpr std::uint32_t most_added = std::uint32_t{1} << 21;

  /// Writes one lane for each limb. The lanes of up to `most_added` values may be added lane by lane, in any
  /// order. read_lanes() then reads the sum of these values. Each lane is below 2^40 in magnitude, so sums of
  /// lanes stay below 2^61. Limbs far above and below all digits of the value give 0. A value to which few numbers
  /// were added needs no carries.
  void write_lanes(std::int64_t* out) const {
    std::memcpy(out, limb_, sizeof limb_);
    if (pending_ >= pending_of_lanes) {
      std::int64_t carry = 0;
      for (int i = 0; i < limb_count - 1; ++i) {
        const std::int64_t sum = limb_[i] + carry;
        const bool is_digit = sum == 0 || sum == -1;  // The sign of a sum below 0 stays with its highest digit.
        out[i] = is_digit ? sum : sum & payload_mask;
        carry = is_digit ? 0 : sum >> 32;
      }
      out[limb_count - 1] += carry;
    }
    // Words in two's complement have the sign of a sum below 0 in all their upper digits.
    for (int i = limb_count - 1; i > 0 && out[i] == -1 && out[i - 1] == payload_mask; --i) {
      out[i] = 0;
      out[i - 1] = -1;
    }
  }
  static fixed_point read_lanes(const std::int64_t* lanes) {
    fixed_point value;
    std::memcpy(value.limb_, lanes, sizeof limb_);
    value.pending_ = pending_limit - 1;
    return value;
  }

  /// Stores |value| in units of 2^Low, least significant word first, and returns whether the value is negative.
  FANIN_HOST_DEVICE bool split(words& magnitude) const {
    const band used = used_words(magnitude);
    FANIN_ROLLED for (int i = limb_count - 1; i >= 0; --i) {
      magnitude[i] = i >= used.first && i < used.first + used.count ? magnitude[i - used.first] : 0;
    }
    return used.negative;
  }

 private:
  static constexpr std::int64_t payload_mask = 0xffffffff;
  static constexpr std::uint32_t pending_limit = std::uint32_t{1} << 29;
  static constexpr std::uint32_t pending_of_lanes = 255;  ///< (255 + 1) 2^32 is the 2^40 of write_lanes()

  FANIN_HOST_DEVICE void count_additions(std::uint32_t count) {
    pending_ += count;
    if (pending_ >= pending_limit) propagate();
  }

  /// A range of words of |value|: `count` words from word `first` on. All other words are 0.
  struct band {
    int first, count;
    bool negative;
  };
  /// Stores the words of the band at the beginning of `magnitude`, and returns the band. Most sums have few words.
  FANIN_HOST_DEVICE band used_words(words& magnitude) const {
    int first = 0, end = limb_count;
    const auto all_0 = [this](int i) { return (limb_[i] | limb_[i + 1] | limb_[i + 2] | limb_[i + 3]) == 0; };
    while (first + 4 < end && all_0(first)) first += 4;  // A limb remains.
    while (end > first + 4 && all_0(end - 4)) end -= 4;
    std::int64_t carry = 0;
    int count = 0;
    FANIN_ROLLED for (int i = first; i < end || (i < limb_count && carry != 0 && carry != -1); ++i) {
      carry += i < end ? limb_[i] : 0;
      magnitude[count++] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    const bool negative =
        first + count < limb_count ? carry < 0 : static_cast<std::int32_t>(magnitude[count - 1]) < 0;
    if (negative) {
      bool plus_one = true;
      FANIN_ROLLED for (int i = 0; i < count; ++i) {
        magnitude[i] = ~magnitude[i] + (plus_one ? 1 : 0);
        plus_one = plus_one && magnitude[i] == 0;
      }
      if (plus_one && first + count < limb_count) magnitude[count++] = 1;
    }
    return {first, count, negative};
  }

  /// Returns round(words, low) with the sign of the value. |value| is the number that has these words in units of
  /// 2^low.
  template <class To, class Round>
  FANIN_HOST_DEVICE typename To::value with_sign(To to, Round round) const {
    words magnitude;
    const band used = used_words(magnitude);
    const auto rounded = [&](const auto& word) {
      const typename To::bits bits = round(word, Low + 32 * used.first);
      const bool is_nan = !to.has_infinity && bits == to.quiet_nan;
      return to.made_of(static_cast<typename To::bits>(used.negative && !is_nan ? bits | to.sign : bits));
    };
    // Code for a device has only one copy of rounded().
    FANIN_HOST_ONLY(if (used.count <= 8) {
      std::uint32_t few[8];
      for (int i = 0; i < 8; ++i) few[i] = i < used.count ? magnitude[i] : 0;
      return rounded(few);
    })
    FANIN_ROLLED for (int i = used.count; i < limb_count; ++i) magnitude[i] = 0;
    return rounded(magnitude);
  }

  std::int64_t limb_[limb_count];
  std::uint32_t pending_ = 0;  ///< additions since the last propagation
};

}  // namespace fanin::detail
