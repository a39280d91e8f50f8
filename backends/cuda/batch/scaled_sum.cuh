// SPDX-License-Identifier: Apache-2.0
// Exact sums in few words, which are enough for most data. A sum does not fit if its elements are too far apart,
// or not finite. An exact accumulator then adds the elements again (refold_kernel.cuh).
//
// A vector of floats is added as integers of 64 bits, whose unit is chosen for the largest element. Each element
// is scaled by a power of two and converted. Doubles are cut into three parts by additions of 1.5 * 2^k. The lower
// bits of such a sum are an integer in units of 2^(k - 52). Subtracting the part from the double is exact.
#pragma once

#include <algorithm>

#include <fanin/accumulator/exact_recipes.hpp>

#include "backends/cuda/batch/number_sums.cuh"

namespace fanin::cuda {

template <class T>
struct scaled_vector;

/// Floats, and elements that are converted to floats and have Digits digits.
template <>
struct scaled_vector<float> {
  /// The least place has the lowest bit of units_of(45).
  using state = scaled_integer<4, -172>;

  /// Units of 2^(unit - 172), in which sums of up to 2^growth elements are below 2^63. `largest`: twice the bits of
  /// the largest element.
  struct units {
    int unit;
    float scale;  ///< what elements are multiplied by, at most 2^127
    FANIN_HOST_DEVICE units(std::uint32_t largest, int growth)
        : units(std::max(static_cast<int>(largest >> 24) - 17 + growth, 45)) {}
    FANIN_HOST_DEVICE explicit units(int chosen)
        : unit(chosen), scale(detail::from_bits<float>(static_cast<std::uint32_t>(299 - unit) << 23)) {}
    /// Whether the smallest element is a whole number of units. `smallest` is twice its bits, less 1.
    template <int Digits>
    FANIN_HOST_DEVICE bool holds(std::uint32_t smallest) const {
      return smallest >= (static_cast<std::uint32_t>(unit - 22 - (24 - Digits)) << 24) - 1;
    }
    FANIN_HOST_DEVICE std::int64_t of(float x) const { return to_integer(x * scale); }
    /// A sum in these units.
    FANIN_HOST_DEVICE state sum(std::int64_t of_units, std::uint32_t flags) const {
      const auto low = static_cast<std::uint64_t>(of_units);
      const std::uint32_t sign = of_units < 0 ? ~0u : 0;
      const unsigned shift = unit % 32;
      return {{static_cast<std::uint32_t>(low) << shift, static_cast<std::uint32_t>(low << shift >> 32),
               static_cast<std::uint32_t>((std::uint64_t{sign} << 32 | low >> 32) << shift >> 32), sign},
              static_cast<std::uint32_t>(unit) / 32 | flags};
    }
  };

  /// The sum of the elements.
  template <int Digits, int N>
  FANIN_HOST_DEVICE static state of(const float (&x)[N]) {
    static_assert(N <= 16);
    constexpr int growth = N > 8 ? 4 : N > 4 ? 3 : 2;  // N elements are below 2^growth of the largest
    std::uint32_t largest = 0, smallest = ~0u, signs = ~0u;
    for (const float one : x) {
      const std::uint32_t bits = detail::to_bits(one), twice = 2 * bits;
      largest = std::max(largest, twice);
      smallest = std::min(smallest, twice - 1);  // 0 is never the smallest
      signs &= bits;
    }
    const units in(largest, growth);
    return sum_of(x, in, signs, largest < infinite && in.holds<Digits>(smallest));
  }
  /// Adds the numbers of the format T in the lower halves of registers to a state, and those in the upper halves to
  /// another one.
  template <class T, int N>
  FANIN_HOST_DEVICE static void add_halves(state& lower, state& upper, const std::uint32_t (&x)[N]) {
    static_assert(N == 8);
    using word = std::uint16_t;
    constexpr std::uint32_t sign = upper_bits<word>;
    std::uint32_t largest = 0, smallest = ~0u, signs = ~0u;
    for (const std::uint32_t pair : x) {
      largest = extreme_words<word, true>(largest, pair & ~sign);
      smallest = extreme_words<word, false>(smallest, ((pair | sign) - each_word<word>)^sign);  // never of a 0
      signs &= pair;
    }
    float of_lower[N], of_upper[N];
    for (int k = 0; k < N; ++k) of_lower[k] = lower_number<T>(x[k]), of_upper[k] = upper_number<T>(x[k]);
    lower.add(of_words<T>(of_lower, largest & 0xffff, smallest & 0xffff, signs << 16));
    upper.add(of_words<T>(of_upper, largest >> 16, smallest >> 16, signs));
  }

  /// Twice the bits of infinity. Twice the bits of a NaN are more.
  static constexpr std::uint32_t infinite = 0xff000000u;

 private:
  /// The sum of eight numbers of the format T. `largest` has the bits of the largest magnitude, and `smallest` those
  /// of the smallest one but 0, less 1.
  template <class T, int N>
  FANIN_HOST_DEVICE static state of_words(const float (&x)[N], std::uint32_t largest, std::uint32_t smallest,
                                          std::uint32_t signs) {
    const auto twice = [](std::uint32_t word) { return 2 * detail::to_bits(lower_number<T>(word)); };
    const std::uint32_t most = twice(largest);
    if constexpr (std::is_same_v<T, f16>) {
      // Every number is a multiple of 2^-24 below 2^16.
      return sum_of(x, units(148), signs, most < infinite);
    } else {
      const units in(most, 3);
      const std::uint32_t least = smallest == 0xffff ? ~0u : twice(smallest + 1) - 1;
      return sum_of(x, in, signs, most < infinite && in.holds<std::numeric_limits<T>::digits>(least));
    }
  }
  /// The sum of numbers in units. `signs` has the upper bit 1 if all numbers have the sign bit.
  template <int N>
  FANIN_HOST_DEVICE static state sum_of(const float (&x)[N], const units& in, std::uint32_t signs, bool fits) {
    std::int64_t sum = 0;
    for (const float one : x) sum += in.of(one);
    return in.sum(sum, (~signs & state::has_positive) | (fits ? 0 : state::unfit));
  }
  /// The whole number x as an integer; an unspecified integer if |x| is not below 2^63.
  FANIN_HOST_DEVICE static std::int64_t to_integer(float x) {
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return __float2ll_rz(x);),
                      (return x < 0x1p63f && x > -0x1p63f ? static_cast<std::int64_t>(x) : 0;))
  }
};

template <>
struct scaled_vector<double> {
  using state = scaled_integer<5, -1155>;

  template <int, int N>
  FANIN_HOST_DEVICE static state of(const double (&x)[N]) {
    static_assert(N <= 64);
    std::uint32_t largest = 0, signs = ~0u;
    for (const double one : x) {
      const auto high = static_cast<std::uint32_t>(detail::to_bits(one) >> 32);
      largest = std::max(largest, 2 * high);
      signs &= high;
    }
    // Elements are below 2^51 units of the first part. From place 65 on its constant would be too large.
    const int place = std::max(static_cast<int>((largest >> 21) + 49) / 32, 3);
    double rest[N];
    for (int i = 0; i < N; ++i) rest[i] = x[i];
    std::uint64_t sum[3] = {};  // sums of parts, in two's complement
    bool is_all = cut(rest, place, sum[0]);
    is_all = cut(rest, place - 1, sum[1]);
    if (!is_all) is_all = cut(rest, place - 2, sum[2]);
    const bool fits = place < 65 && is_all;
    const auto carry = [](std::uint64_t x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> 32); };
    sum[1] += carry(sum[2]);
    sum[0] += carry(sum[1]);
    return {
        {static_cast<std::uint32_t>(sum[2]), static_cast<std::uint32_t>(sum[1]), static_cast<std::uint32_t>(sum[0]),
         static_cast<std::uint32_t>(sum[0] >> 32), static_cast<std::int64_t>(sum[0]) < 0 ? ~0u : 0},
        static_cast<std::uint32_t>(place) | (~signs & state::has_positive) | (fits ? 0 : state::unfit)};
  }

 private:
  /// Moves the part of each x that is a multiple of the units of a place to the sum. Returns whether nothing is left.
  template <int N>
  FANIN_HOST_DEVICE static bool cut(double (&x)[N], int place, std::uint64_t& sum) {
    const double constant = constant_of(place);
    bool is_all = true;
    sum = 0 - N * detail::to_bits(constant);
    for (double& one : x) {
      const double rounded = one + constant;
      sum += detail::to_bits(rounded);
      one -= rounded - constant;
      is_all = is_all && one == 0;
    }
    return is_all;
  }
  /// 1.5 * 2^52 units of a part, which are 2^(32 place - 1091).
  FANIN_HOST_DEVICE static double constant_of(int place) {
    const auto exponent = static_cast<std::uint64_t>(32 * place - 16);
    return detail::from_bits<double>((exponent << 20 | 1u << 19) << 32);
  }
};

/// Adds the sum, which fits and is not one of negative zeros, to an exact accumulator.
template <int Words, int Low, class A>
FANIN_HOST_DEVICE void add_words(const scaled_integer<Words, Low>& s, A& sum) {
  FANIN_ROLLED for (int i = 0; i < Words; ++i) {
    const auto digit = i + 1 < Words ? std::int64_t{s.word[i]} : std::int64_t{static_cast<std::int32_t>(s.word[i])};
    if (digit != 0 || i == 0) sum.add_scaled(digit, s.exponent() + 32 * i);
  }
}

/// Adds the sum of numbers N, which fits, to an exact accumulator without elements.
template <class N, int Words, int Low, class A>
FANIN_HOST_DEVICE void add_sum(const scaled_integer<Words, Low>& s, A& sum) {
  s.is_negative_zero() ? sum.add(-N{}) : add_words(s, sum);
}

/// The sum of `count` numbers, or their mean, rounded once to R, the format of `to`.
template <class R, int Words, int Low, class To>
FANIN_HOST_DEVICE typename To::value rounded_sum(const scaled_integer<Words, Low>& s, std::uint64_t count,
                                                 bool is_mean, To to) {
  if (is_mean && count == 0) return to.made_of(to.quiet_nan);
  if (count > 0 && s.is_negative_zero()) return to.made_of(to.sign);
  return rounded<R>(s, is_mean ? count : 1, to);
}

/// Exact sums of elements T, or of numbers that have no more digits.
template <class T>
struct scaled_sum {
  using element = T;
  using number = computed_as<T>;
  static constexpr int digits = std::numeric_limits<T>::digits;
  using state = typename scaled_vector<number>::state;
  using sums = number_sums<number>;
  using use = bool;  ///< whether the value is the mean
  static constexpr bool order_free = true;
  /// The most elements of a state that fits. The state has 33 bits or more above the bits of a vector.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 33;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  FANIN_HOST_DEVICE static void add(state& s, number x) {
    const number one[] = {x};
    add_vector(s, one);
  }
  /// Adds all numbers at once.
  template <class X, int N>
  FANIN_HOST_DEVICE static void add_vector(state& s, const X (&x)[N]) {
    s.add(of_vector(x));
  }
  /// The state of the numbers.
  template <class X, int N>
  FANIN_HOST_DEVICE static state of_vector(const X (&x)[N]) {
    number numbers[N];
    for (int i = 0; i < N; ++i) numbers[i] = x[i];
    return scaled_vector<number>::template of<digits>(numbers);
  }
  /// The state of numbers that were added in units that hold them.
  FANIN_HOST_DEVICE static state state_of(const sums& s, int unit, bool) { return s.template sum<state>(unit); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.add(other); }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned) { return value == sum_value::mean; }
  /// The sum, or the mean, of `count` elements whose state fits, in R, the format of `to`.
  template <class R, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE static typename To::value finish(const state& s, std::uint64_t count, use is_mean, To to = {}) {
    return rounded_sum<R>(s, count, is_mean, to);
  }

  /// The exact accumulator A of `count` elements.
  template <class A = exact_accumulator<number>>
  FANIN_HOST_DEVICE static A total(const state& s, std::uint64_t count) {
    A sum;
    if (count > 0) add_sum<number>(s, sum);
    return sum;
  }
};

/// The accumulator that batches fold first in place of A, an exact one, or void.
template <class A>
struct scaled_form {
  using type = void;
};
template <class T, class Term>
struct scaled_form<accumulator::exact_sum<T, Term>> {
  using type = scaled_sum<T>;
};
template <class Word, class N>
struct scaled_form<by_word<Word, accumulator::exact_sum<N>>> {
  using type = by_word<Word, scaled_sum<widest_format<Word>>>;
};
template <class A>
using scaled_form_t = typename scaled_form<A>::type;
template <class A>
concept has_scaled_form = !std::is_void_v<scaled_form_t<A>>;
/// Whether a sum of A may be found not to fit into its state.
template <class A>
concept has_few_words = requires(const typename A::state& s) {
  s.fits();
};

}  // namespace fanin::cuda
