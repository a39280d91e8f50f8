// SPDX-License-Identifier: Apache-2.0
// Integers of a few words at places that are 32 binades apart, so that two of the same place are added without a
// shift.
#pragma once

#include <bit>
#include <cstdint>

#include <nv/target>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/compiler.hpp>

namespace fanin::cuda {

/// A sum: an integer of Words words in two's complement, in units of 2^(32 place + Low). It knows if it has lost
/// bits.
template <int Words, int Low>
struct alignas(Words % 4 == 3 ? 16 : 4) scaled_integer {
  std::uint32_t word[Words];  ///< least significant first
  std::uint32_t tag;          ///< the place, in the lower bits, and flags

  /// A flag: an element had the sign bit 0. A sum of 0 without it is one of negative zeros.
  static constexpr std::uint32_t has_positive = 1u << 31;
  /// A flag: the integer is not the sum.
  static constexpr std::uint32_t unfit = 1u << 30;

  FANIN_HOST_DEVICE bool fits() const { return (tag & unfit) == 0; }
  FANIN_HOST_DEVICE int place() const { return static_cast<int>(tag & ~(has_positive | unfit)); }
  /// The exponent of the unit.
  FANIN_HOST_DEVICE int exponent() const { return 32 * place() + Low; }
  FANIN_HOST_DEVICE bool is_negative() const { return static_cast<std::int32_t>(word[Words - 1]) < 0; }
  FANIN_HOST_DEVICE bool is_zero() const {
    std::uint32_t bits = 0;
    for (const std::uint32_t w : word) bits |= w;
    return bits == 0;
  }
  /// Whether this is a sum of negative zeros, or of nothing.
  FANIN_HOST_DEVICE bool is_negative_zero() const { return (tag & has_positive) == 0 && is_zero(); }

  /// Adds a sum. The result has the higher one of both places.
  FANIN_HOST_DEVICE void add(scaled_integer more) {
    if (((tag ^ more.tag) & ~(has_positive | unfit)) != 0) {
      if (place() < more.place()) {
        raise(more.place());
      } else {
        more.raise(place());
      }
    }
    add_words(more.word);
    tag |= more.tag;
  }

  /// |integer|, which is below 2^(32 Words - 1).
  FANIN_HOST_DEVICE void magnitude(std::uint32_t (&out)[Words]) const {
    const std::uint32_t sign = is_negative() ? ~0u : 0;
    std::uint64_t carry = sign & 1;
    for (int i = 0; i < Words; ++i) {
      carry += word[i] ^ sign;
      out[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

 private:
  /// Moves the integer to a higher place, where it loses its lower words.
  FANIN_HOST_DEVICE void raise(int higher) {
    int at = place();
    FANIN_ROLLED while (at < higher && word[0] == 0 && !is_zero()) {
      for (int k = 0; k + 1 < Words; ++k) word[k] = word[k + 1];
      word[Words - 1] = static_cast<std::int32_t>(word[Words - 1]) < 0 ? ~0u : 0;
      ++at;
    }
    tag = (tag & (has_positive | unfit)) | static_cast<std::uint32_t>(higher);
    if (at < higher && !is_zero()) tag |= unfit;
  }
  FANIN_HOST_DEVICE void add_words(const std::uint32_t (&more)[Words]) {
    static_assert(Words <= 7);
    // The compiler drops the words of `sum` that nothing reads.
    std::uint32_t sum[7] = {}, x[7] = {};
    for (int i = 0; i < Words; ++i) sum[i] = word[i], x[i] = more[i];
    NV_IF_ELSE_TARGET(
        NV_IS_DEVICE,
        (asm("add.cc.u32 %0, %0, %7;\n\taddc.cc.u32 %1, %1, %8;\n\taddc.cc.u32 %2, %2, %9;\n\t"
             "addc.cc.u32 %3, %3, %10;\n\taddc.cc.u32 %4, %4, %11;\n\taddc.cc.u32 %5, %5, %12;\n\t"
             "addc.u32 %6, %6, %13;"
             : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5]), "+r"(sum[6])
             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]));),
        (std::uint64_t carry = 0; for (int i = 0; i < Words; ++i) {
          carry += std::uint64_t{sum[i]} + x[i];
          sum[i] = static_cast<std::uint32_t>(carry);
          carry >>= 32;
        }))
    for (int i = 0; i < Words; ++i) word[i] = sum[i];
  }
};

/// |integer| * 2^low / count, rounded once to R, the format of `to`: the bits, without a sign.
template <class R, class To, int Words>
FANIN_HOST_DEVICE FANIN_NOINLINE typename To::bits rounded_magnitude(const std::uint32_t (&integer)[Words], int low,
                                                                     std::uint64_t count, To to) {
  detail::leading_words<5> quotient(integer);
  if (count > 1) quotient.divide(count);
  return detail::round_magnitude<R>(quotient.word, low + 32 * quotient.first, quotient.sticky, to);
}

/// The exponent of a power of two that is at least 1.
FANIN_HOST_DEVICE inline int exponent_of(float power) { return static_cast<int>(detail::to_bits(power) >> 23) - 127; }

/// The sum divided by `count` > 0, and rounded once to R, the format of `to`. 0 gives +0.
template <class R, int Words, int Low, class To = detail::float_format<R>>
FANIN_HOST_DEVICE typename To::value rounded(const scaled_integer<Words, Low>& s, std::uint64_t count, To to = {}) {
  using bits = typename To::bits;
  constexpr bool is_narrow = narrow_float<R> && !std::is_same_v<To, detail::number_format>;
  using N = std::conditional_t<is_narrow, float, R>;
  if (s.is_zero()) return to.made_of(0);
  std::uint32_t size[Words];
  s.magnitude(size);
  bits found = 0;
  bool is_normal = false;
  if constexpr (std::is_floating_point_v<N>) {
    // The lowest bit of an integer says whether there is more below. The conversion of this integer rounds as N
    // does, unless the result is subnormal or too large. For a narrow R the integer has 24 bits, so that only the
    // conversion from N to R rounds.
    using to_n = detail::float_format<N>;
    std::uint32_t top[Words];
    int exponent = s.exponent() + 32 * (Words - 1);
    for (int i = 0; i < Words; ++i) top[i] = size[i];
    for (int step = 0; step + 1 < Words; ++step) {
      if (top[Words - 1] != 0) continue;
      for (int i = Words - 1; i > 0; --i) top[i] = top[i - 1];
      top[0] = 0;
      exponent -= 32;
    }
    const int zeros = std::countl_zero(top[Words - 1]);
    typename to_n::bits leading;
    std::uint32_t below = 0;
    if constexpr (sizeof(N) == 4) {
      const std::uint64_t both = (std::uint64_t{top[Words - 1]} << 32 | top[Words - 2]) << zeros;
      leading = static_cast<typename to_n::bits>(both >> 32);
      below = static_cast<std::uint32_t>(both) | top[Words - 3];
    } else {
      const std::uint64_t low = (std::uint64_t{top[Words - 2]} << 32 | top[Words - 3]) << zeros;
      leading =
          ((std::uint64_t{top[Words - 1]} << 32 | top[Words - 2]) << zeros & ~std::uint64_t{0xffffffff}) | low >> 32;
      below = static_cast<std::uint32_t>(low);
      exponent -= 32;
    }
    for (int i = 0; i < Words - 3; ++i) below |= top[i];
    constexpr typename to_n::bits lowest = is_narrow ? 1 << 8 : 1;
    below |= static_cast<std::uint32_t>(leading & (lowest - 1));
    const bool is_power = (count & (count - 1)) == 0;
    exponent -= zeros + (is_power ? exponent_of(static_cast<float>(count)) : 0);
    auto near = detail::to_bits(static_cast<N>((leading & ~(lowest - 1)) | (below != 0 ? lowest : 0)));
    const int biased = static_cast<int>(near >> (to_n::digits - 1)) + exponent;
    is_normal = is_power && biased > 0 && biased < 2 * to_n::high - 1;
    near += static_cast<typename to_n::bits>(exponent) << (to_n::digits - 1);
    if constexpr (is_narrow) {
      found = R(detail::from_bits<float>(near)).bits;
    } else {
      found = near;
    }
  }
  if (!is_normal) found = rounded_magnitude<R>(size, s.exponent(), count, to);
  const bool has_sign = s.is_negative() && (to.has_infinity || found != to.quiet_nan);
  return to.made_of(static_cast<bits>(has_sign ? found | to.sign : found));
}

}  // namespace fanin::cuda
