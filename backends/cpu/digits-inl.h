// SPDX-License-Identifier: Apache-2.0
// Exact sums of elements of any exponents: each element is cut into two digits, which are added to a table. Highway
// includes this file once for each instruction set.
#if defined(FANIN_DIGITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_DIGITS_INL_H_
#undef FANIN_DIGITS_INL_H_
#else
#define FANIN_DIGITS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/exact.hpp>

#include "backends/cpu/loads-inl.h"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums of the digits of elements of T.
///
/// A finite |x| with the biased exponent 32 k + s, s < 32, is m * 2^s units of 2^(low - 1 + 32 k), where 2^low is
/// the smallest subnormal number. m is the mantissa of x, or for a subnormal x twice the mantissa. x has two
/// digits: the lower 33 bits of m * 2^s, and the at most 51 bits above them. The upper digit has the unit of limb
/// k + 1 of the accumulator. A row has two words for one k and sign: the sum of m * 2^s modulo 2^64, and the sum of
/// the upper digits. Elements of even and of odd index have tables of their own, so that additions to the same row
/// wait less for each other.
template <class T>
class digit_table {
 public:
  /// The sum of the upper digits of so many elements is at most 4096 * (2^51 - 1), which is below 2^63.
  static constexpr std::size_t most_elements = 4096;

  HWY_INLINE digit_table() {
    const hn::ScalableTag<std::uint64_t> w;
    for (std::size_t i = 0; i < sizeof word_ / sizeof word_[0][0]; i += hn::Lanes(w)) {
      hn::Store(hn::Zero(w), w, word_[0] + i);
    }
  }

  /// Adds x[0..count), count <= most_elements, once. Infinities and NaN count as 0. Returns whether there was none.
  HWY_INLINE bool add(const T* x, std::size_t count) {
    constexpr std::size_t block = 32;
    const hn::ScalableTag<std::uint64_t> w;
    const auto zero = hn::Zero(w), infinity = hn::Set(w, std::uint64_t{format::infinity});
    const auto implicit_one = hn::Set(w, std::uint64_t{format::implicit_one}),
               fraction_mask = hn::Sub(implicit_one, hn::Set(w, 1));
    auto special = hn::Ne(zero, zero);
    const auto add_block = [&](const T* v) HWY_ATTR {
      HWY_ALIGN std::uint64_t words[2][block / 2][2];  // of elements of even and of odd index
      for (std::size_t i = 0; i < block; i += 64 / sizeof(T)) prefetch_line(v + i);
      for (std::size_t i = 0; i < block; i += hn::Lanes(w)) {
        const auto bits = load_bits(w, v + i);
        const auto exponent = hn::And(bits, infinity), fraction = hn::And(bits, fraction_mask);
        const auto is_special = hn::Eq(exponent, infinity);
        special = hn::Or(special, is_special);
        const auto above = hn::IfThenElse(hn::Eq(exponent, zero), fraction, implicit_one);
        const auto m = hn::IfThenZeroElse(is_special, hn::Add(fraction, above));
        const auto s = hn::And(hn::ShiftRight<mantissa_bits>(bits), hn::Set(w, binades - 1));
        const auto scaled = hn::Shl(m, s), high = hn::Shr(m, hn::Sub(hn::Set(w, low_bits), s));
        hn::Store(hn::InterleaveLower(scaled, high), w, words[0][i / 2]);
        hn::Store(hn::InterleaveUpper(w, scaled, high), w, words[1][i / 2]);
      }
      // Loads are cheaper than the shuffles by which the compiler would take the words out of vectors.
      asm volatile("" ::: "memory");
      HWY_UNROLL(16)
      for (std::size_t i = 0; i < block; i += 2) {
        add_words(row_of(v[i], 0), words[0][i / 2]);
        add_words(row_of(v[i + 1], 1), words[1][i / 2]);
      }
    };
    std::size_t i = 0;
    for (; i + block <= count; i += block) add_block(x + i);
    if (i < count) {
      T rest[block] = {};
      std::copy(x + i, x + count, rest);
      add_block(rest);
    }
    return hn::AllFalse(w, special);
  }

  /// Adds the sum of all elements to `into`.
  HWY_INLINE void add_to(exact_accumulator<T>& into) const {
    std::uint64_t total[2 * steps];
    constexpr std::size_t minus = 2 * steps;  // the first row for negative elements
    for (std::size_t i = 0; i < minus; ++i) {
      total[i] = word_[0][i] + word_[1][i] - word_[0][minus + i] - word_[1][minus + i];
    }
    std::int64_t lower[steps + 2], upper[steps + 2];  // sums of digits k at place k + 1
    for (const std::size_t i : {std::size_t{0}, steps + 1}) lower[i] = upper[i] = 0;
    for (std::size_t k = 0; k < steps; ++k) {
      upper[k + 1] = static_cast<std::int64_t>(total[2 * k + 1]);
      // The sum is below 2^45, so that the words modulo 2^64 determine it.
      lower[k + 1] = static_cast<std::int64_t>(total[2 * k] - (total[2 * k + 1] << low_bits));
    }
    // The lower digits are in units of half a limb. Their sum for k = 0 is even.
    std::int64_t digit[steps + 1];
    for (std::size_t k = 0; k <= steps; ++k) {
      const std::int64_t half = k < steps ? (lower[k + 2] & 1) << 31 : 0;
      digit[k] = upper[k] + (lower[k + 1] >> 1) + half;
    }
    into.add_digits(digit);
  }

 private:
  using format = detail::float_format<T>;
  static constexpr int mantissa_bits = format::digits - 1, low_bits = 33, binades = 32;
  static constexpr std::size_t steps = 2 * format::high / binades;  ///< values of k

  /// The two words for the sign and the exponent of x.
  HWY_INLINE std::uint64_t* row_of(T x, std::size_t table) {
    return word_[table] + (detail::to_bits(x) >> (mantissa_bits + 4) & ~1u);
  }
  static HWY_INLINE void add_words(std::uint64_t* row, const std::uint64_t* words) {
    row[0] += words[0];
    row[1] += words[1];
  }

  alignas(64) std::uint64_t word_[2][4 * steps];
};

/// Adds x[0..count), any values.
template <class T>
HWY_NOINLINE void add_by_digits(const T* x, std::size_t count, exact_accumulator<T>& into) {
  while (count > 0) {
    const std::size_t length = std::min(count, digit_table<T>::most_elements);
    digit_table<T> table;
    const bool finite = table.add(x, length);
    table.add_to(into);
    for (std::size_t i = 0; !finite && i < length; ++i) {
      constexpr auto infinity = detail::float_format<T>::infinity;
      if ((detail::to_bits(x[i]) & infinity) == infinity) into.add(x[i]);
    }
    x += length;
    count -= length;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
