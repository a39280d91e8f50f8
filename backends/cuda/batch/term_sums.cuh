// SPDX-License-Identifier: Apache-2.0
// Exact sums of products, and of numbers beside their squares, by additions of doubles that do not round.
//
// A product of floats is a double, and a product of doubles is one and its rounding error. Additions of 1.5 * 2^k cut
// the doubles into parts: the lower bits of the sum are an integer in units of 2^(k - 52), and what is subtracted is
// exact. The units are chosen for the largest factors: each product is below 2^153 units of the last part.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cuda/batch/scaled_integer.cuh"
#include "backends/cuda/numbers.hpp"

namespace fanin::cuda {

/// Sums of products. The least place has the lowest bit of the last part where the largest product is 2^-922.
using product_sum = scaled_integer<7, -1074>;
/// Sums of numbers whose squares are summed, in units of which the squares are units of these at twice the place.
using number_sum = scaled_integer<5, -537>;

/// Adds the part of x that is a whole number of units, and the bits of `constant`, to `sum`, and leaves the rest in
/// x, which is below 2^51 units. `constant` is 1.5 * 2^52 units.
FANIN_HOST_DEVICE inline void cut(double& x, double constant, std::uint64_t& sum) {
  const double shifted = x + constant;
  sum += detail::to_bits(shifted);
  x -= shifted - constant;
}
/// The sum of N parts, after N calls of cut().
template <int N>
FANIN_HOST_DEVICE std::int64_t without_constants(std::uint64_t sum, double constant) {
  return static_cast<std::int64_t>(sum - N * detail::to_bits(constant));
}
/// The constant for units of 2^(exponent - 1075).
FANIN_HOST_DEVICE inline double cutting_constant(int exponent) {
  return detail::from_bits<double>(std::uint64_t{static_cast<unsigned>(exponent)} << 52 | std::uint64_t{1} << 51);
}

/// The integer of the words, in two's complement and least significant first, in units of 2^(unit + Low).
template <class State, int N>
FANIN_HOST_DEVICE State scaled_state(const std::uint64_t (&word)[N], int unit, std::uint32_t flags) {
  constexpr int words = std::extent_v<decltype(State::word)>;
  static_assert(words == 2 * N + 1);
  std::uint32_t in[words + 1] = {};  // below the integer there are zeros
  for (int i = 0; i < N; ++i) {
    in[1 + 2 * i] = static_cast<std::uint32_t>(word[i]);
    in[2 + 2 * i] = static_cast<std::uint32_t>(word[i] >> 32);
  }
  in[words] = static_cast<std::int64_t>(word[N - 1]) < 0 ? ~0u : 0;
  const unsigned shift = static_cast<unsigned>(unit) % 32;
  State s;
  for (int i = 0; i < words; ++i) {
    s.word[i] = static_cast<std::uint32_t>((std::uint64_t{in[i + 1]} << 32 | in[i]) << shift >> 32);
  }
  s.tag = static_cast<std::uint32_t>(unit) / 32 | flags;
  return s;
}

/// The upper half of a number's bits.
FANIN_HOST_DEVICE inline std::uint32_t upper_half(float x) { return detail::to_bits(x); }
FANIN_HOST_DEVICE inline std::uint32_t upper_half(double x) {
  return static_cast<std::uint32_t>(detail::to_bits(x) >> 32);
}
/// Bits of which one is set if x is not +0.
FANIN_HOST_DEVICE inline std::uint32_t any_bit(double x) {
  return upper_half(x) | static_cast<std::uint32_t>(detail::to_bits(x));
}

/// A pair of numbers.
template <class T>
class pair_of_numbers {
 public:
  using number = T;
  static constexpr int count = 1;
  FANIN_HOST_DEVICE pair_of_numbers(T x, T y) : x_(x), y_(y) {}
  FANIN_HOST_DEVICE T most_of_x() const { return std::abs(x_); }
  FANIN_HOST_DEVICE T most_of_y() const { return std::abs(y_); }
  FANIN_HOST_DEVICE void get(T (&x)[1], T (&y)[1], bool) const { x[0] = x_, y[0] = y_; }

 private:
  T x_, y_;
};

/// The registers of N words.
template <class Word, int N>
using registers_of_words = std::uint32_t[N * sizeof(Word) / sizeof(std::uint32_t)];

/// Word i of those in registers.
template <class Word, int Registers>
FANIN_HOST_DEVICE Word word_in(const std::uint32_t (&x)[Registers], int i) {
  if constexpr (sizeof(Word) == 8) {
    return std::uint64_t{x[2 * i + 1]} << 32 | x[2 * i];
  } else {
    constexpr int per_register = 4 / sizeof(Word);
    return static_cast<Word>(x[i / per_register] >> 8 * sizeof(Word) * (i % per_register));
  }
}

/// N pairs of words, which are read as numbers; with Squares, of a word and itself.
template <class Word, int N, bool Squares>
class pairs_of_words {
  using words = word_numbers<Word>;
  using registers = registers_of_words<Word, N>;

 public:
  using number = typename words::number;
  static constexpr int count = N;
  FANIN_HOST_DEVICE pairs_of_words(const registers& x, const registers& y, const element_rule& rule)
      : x_(x), y_(y), rule_(rule) {}
  FANIN_HOST_DEVICE number most_of_x() const { return most_of(x_); }
  FANIN_HOST_DEVICE number most_of_y() const { return most_of(y_); }
  /// Numbers that are read `again` take no registers until then.
  FANIN_HOST_DEVICE void get(number (&x)[N], number (&y)[N], bool again) const {
    get(x_, x, again);
    if (Squares) {
      for (int i = 0; i < N; ++i) y[i] = x[i];
    } else {
      get(y_, y, again);
    }
  }

 private:
  FANIN_HOST_DEVICE number most_of(const registers& x) const {
    using packed = packed_words<Word>;
    packed size[N * sizeof(Word) / sizeof(packed)];
    std::memcpy(size, x, sizeof x);
    for (packed& one : size) one &= ~upper_bits<Word>;
    Word sizes[N];
    std::memcpy(sizes, size, sizeof sizes);
    return words::read(extreme_word<true>(sizes), rule_);
  }
  FANIN_HOST_DEVICE void get(const registers& from, number (&to)[N], bool again) const {
    registers x;
    std::memcpy(x, from, sizeof x);
    if (again) {
      // The compiler does not know that these are the same words, and so keeps no numbers of theirs.
      NV_IF_TARGET(NV_IS_DEVICE, (for (std::uint32_t& one : x) asm volatile("" : "+r"(one));))
    }
    Word words_of_x[N];
    for (int i = 0; i < N; ++i) words_of_x[i] = word_in<Word>(x, i);
    words::read_all(words_of_x, to, rule_);
  }

  const registers& x_;
  const registers& y_;
  const element_rule& rule_;
};

/// What the largest factors of products say about the units of sums.
template <class T>
struct product_bound {
  static constexpr bool rounds = std::is_same_v<T, double>;
  static constexpr int least = 101, most = 2044;  ///< of the exponent of the bound of all products, with the bias
  int unit;                                       ///< the last part has units of 2^(unit - 1074)
  bool is_in_range;                               ///< all factors are finite, and so are the constants
  template <class Pairs>
  FANIN_HOST_DEVICE explicit product_bound(const Pairs& pairs) {
    constexpr int shift = rounds ? 20 : 23, none = rounds ? 0x7ff : 0xff;  // the exponent of what is not finite
    const auto of_x = static_cast<int>(upper_half(pairs.most_of_x()) >> shift);
    const auto of_y = static_cast<int>(upper_half(pairs.most_of_y()) >> shift);
    const int exponent = of_x + of_y + (rounds ? -1022 : 770);
    unit = exponent > least ? exponent - least : 0;
    is_in_range = of_x < none && of_y < none && exponent <= most;
  }
};

/// The sums of the parts of products of numbers T; with Roots, also those of the numbers, of which the products are
/// squares.
template <class T, bool Roots>
struct term_sums {
  static constexpr bool rounds = product_bound<T>::rounds;
  /// The most terms whose sums these integers hold.
  static constexpr unsigned most_terms = 1u << 11;
  std::int64_t product[3] = {}, root[2] = {};
  std::uint32_t signs = ~0u;  ///< the upper bit is 1 if all products have the sign bit

  FANIN_HOST_DEVICE void merge(const term_sums& more) {
    for (int k = 0; k < 3; ++k) product[k] += more.product[k];
    for (int k = 0; k < 2; ++k) root[k] += more.root[k];
    signs &= more.signs;
  }

  /// Forms the sums of Parts parts of products, and of their rounding errors, and of RootParts parts of numbers.
  /// Returns whether a rest is left. `again`: another call was made for these numbers.
  template <int Parts, int RootParts, class Pairs>
  FANIN_HOST_DEVICE bool form(const Pairs& pairs, int unit, bool again) {
    constexpr int N = Pairs::count, least = product_bound<T>::least;
    T x[N], y[N];
    pairs.get(x, y, again);
    std::uint64_t sum[3] = {}, errors[2] = {}, roots[2] = {};
    std::uint32_t rest = 0, smallest = ~0u;
    *this = {};
    for (int i = 0; i < N; ++i) {
      double term = std::fma(static_cast<double>(x[i]), static_cast<double>(y[i]), 0.0);  // +0 in place of -0
      if constexpr (rounds) {
        double error = std::fma(-x[i], y[i], term);  // what was added too much
        smallest = std::min(smallest, upper_half(term) & ~(1u << 31));
        for (int k = 0; k < 2; ++k) cut(error, part_constant(unit, 1 + k), errors[k]);
        rest |= any_bit(error);
      }
      for (int k = 0; k < Parts; ++k) cut(term, part_constant(unit, k), sum[k]);
      rest |= any_bit(term);
      signs &= upper_half(x[i]) ^ upper_half(y[i]);
      if constexpr (Roots) {
        // A square is below 2^(unit - 920), and its root below 2^51 units of the first part. A second part has no
        // rest if the squares have none.
        double number = x[i];
        for (int k = 0; k < RootParts; ++k) cut(number, cutting_constant(unit / 2 + 564 - 26 * k), roots[k]);
        if (RootParts == 1) rest |= any_bit(number);
      }
    }
    for (int k = 0; k < Parts; ++k) product[k] = without_constants<N>(sum[k], part_constant(unit, k));
    if constexpr (rounds) {
      for (int k = 0; k < 2; ++k) product[1 + k] -= without_constants<N>(errors[k], part_constant(unit, 1 + k));
      if (smallest >> 20 < least && has_rounded_errors(pairs)) rest = 1;
    }
    if constexpr (Roots) {
      for (int k = 0; k < RootParts; ++k) {
        root[k] = without_constants<N>(roots[k], cutting_constant(unit / 2 + 564 - 26 * k));
      }
    }
    return rest != 0;
  }

  /// The sum of the products.
  FANIN_HOST_DEVICE product_sum products(int unit, bool fits) const {
    // product[0] * 2^102 + product[1] * 2^51 + product[2]
    const auto low = (static_cast<std::uint64_t>(product[1]) << 51) + static_cast<std::uint64_t>(product[2]);
    const std::int64_t middle =
        (product[1] >> 13) + (product[2] >> 63) + (low < static_cast<std::uint64_t>(product[2]) ? 1 : 0);
    const auto upper = static_cast<std::uint64_t>(product[0]) << 38;
    const auto next = static_cast<std::uint64_t>(middle) + upper;
    const std::int64_t high = (product[0] >> 26) + (middle >> 63) + (next < upper ? 1 : 0);
    const std::uint64_t words[] = {low, next, static_cast<std::uint64_t>(high)};
    return scaled_state<product_sum>(words, unit,
                                     (~signs & product_sum::has_positive) | (fits ? 0 : product_sum::unfit));
  }
  /// The sum of the numbers, of which the second part has units of 2^(unit / 2 - 537).
  FANIN_HOST_DEVICE number_sum numbers(int unit) const {
    const auto upper = static_cast<std::uint64_t>(root[0]) << 26;
    const std::uint64_t low = upper + static_cast<std::uint64_t>(root[1]);
    const std::int64_t high = (root[0] >> 38) + (root[1] >> 63) + (low < upper ? 1 : 0);
    const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
    return scaled_state<number_sum>(words, unit / 2, number_sum::has_positive);
  }

 private:
  FANIN_HOST_DEVICE static double part_constant(int unit, int part) {
    return cutting_constant(unit + product_bound<T>::least + 2 - 51 * part);
  }
  /// Whether a product is so small that its error may itself be rounded.
  template <class Pairs>
  FANIN_HOST_DEVICE static bool has_rounded_errors(const Pairs& pairs) {
    constexpr int N = Pairs::count;
    T x[N], y[N];
    pairs.get(x, y, true);
    bool found = false;
    for (int i = 0; i < N; ++i) {
      const std::uint32_t size = upper_half(static_cast<double>(x[i]) * static_cast<double>(y[i])) & ~(1u << 31);
      found |= size >> 20 < product_bound<T>::least && x[i] != 0 && y[i] != 0;
    }
    return found;
  }
};

/// Adds terms in the same units as long as these fit, and gives states of A where they do not.
template <class A>
class term_window {
  using T = typename A::number;
  using sums = typename A::sums;
  using bound = product_bound<T>;
  static constexpr int parts = A::digits <= 12 ? 1 : 2, root_parts = bound::rounds ? 2 : 1;  ///< of most terms
  static constexpr int headroom = 4;  ///< binades by which products may become larger

 public:
  /// Adds the terms of pairs. Calls flush(state) with the states of terms that do not stay here. If some terms have a
  /// rest, each(f) calls f(few) for parts of the pairs, so that rare code is short.
  template <class Pairs, class F, class Each>
  FANIN_HOST_DEVICE void add(const Pairs& pairs, const F& flush, const Each& each) {
    const bound found(pairs);
    if (found.unit > unit_ || left_ < Pairs::count) {
      close(flush);
      unit_ = std::min(found.unit + headroom, bound::most - bound::least);
      left_ = sums::most_terms;
    }
    sums more;
    if (!more.template form<parts, root_parts>(pairs, unit_, false) && found.is_in_range) {
      sums_.merge(more);
    } else {
      each([&](const auto& few) {
        sums of_few;
        if (parts < 2 && !of_few.template form<2, root_parts>(few, unit_, true) && found.is_in_range) {
          sums_.merge(of_few);
        } else {
          flush(state_of(few));
        }
      });
    }
    left_ -= Pairs::count;
  }
  /// Gives the state of the terms that are here, if there are any.
  template <class F>
  FANIN_HOST_DEVICE void close(const F& flush) {
    if (unit_ >= 0) flush(A::state_of(sums_, unit_, true));
    sums_ = {};
    unit_ = -1;
    left_ = 0;
  }
  /// The state of pairs whose terms have units of their own.
  template <class Pairs>
  FANIN_HOST_DEVICE static typename A::state state_of(const Pairs& pairs) {
    const bound found(pairs);
    sums all;
    const bool has_rest = all.template form<3, 2>(pairs, found.unit, true);
    return A::state_of(all, found.unit, !has_rest && found.is_in_range);
  }

 private:
  sums sums_;
  int unit_ = -1;      ///< of sums_, or below 0 if nothing was added
  unsigned left_ = 0;  ///< terms that still fit
};

}  // namespace fanin::cuda
