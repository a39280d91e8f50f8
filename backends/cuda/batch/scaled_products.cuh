// SPDX-License-Identifier: Apache-2.0
// Exact sums of products and of squares in few words, and both sums of a variance. A sum is found not to fit if its
// terms are too far apart, or not finite; an exact accumulator then adds them again (refold_kernel.cuh).
//
// A product of floats is a double, and a product of doubles is one and its rounding error. Additions of 1.5 * 2^k cut
// the doubles into parts: the lower bits of the sum are an integer in units of 2^(k - 52), and what is subtracted is
// exact. The units are chosen for the largest factors of the products that are added at once: each product is below
// 2^153 units of the last part.
#pragma once

#include <algorithm>
#include <cmath>
#include <variant>

#include <fanin/accumulator/moments.hpp>

#include "backends/cuda/batch/scaled_sum.cuh"

namespace fanin::cuda {

/// Sums of products. The least place has the lowest bit of the last part where the largest product is 2^-922.
using product_sum = scaled_integer<7, -1074>;
/// Sums of numbers whose squares are summed, in units of which the squares are units of these at twice the place.
using number_sum = scaled_integer<5, -537>;

/// Adds the part of x that is a whole number of units to `sum`, and leaves the rest in x, which is below 2^51 units.
/// `constant` is 1.5 * 2^52 units.
FANIN_HOST_DEVICE inline void cut(double& x, double constant, std::uint64_t& sum) {
  const double shifted = x + constant;
  sum += detail::to_bits(shifted) - detail::to_bits(constant);
  x -= shifted - constant;
}
/// The constant for units of 2^(exponent - 1075).
FANIN_HOST_DEVICE inline double cutting_constant(int exponent) {
  return detail::from_bits<double>(std::uint64_t{static_cast<unsigned>(exponent)} << 52 | std::uint64_t{1} << 51);
}

/// The integer of the words, in two's complement and least significant first, in units of 2^(unit + Low).
template <class State, int N>
FANIN_HOST_DEVICE State placed(const std::uint64_t (&word)[N], int unit, std::uint32_t flags) {
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

/// N pairs of words, which are read as numbers; with Squares, of a word and itself.
template <class Word, int N, bool Squares>
class pairs_of_words {
  using words = word_numbers<Word>;

 public:
  using number = typename words::number;
  static constexpr int count = N;
  FANIN_HOST_DEVICE pairs_of_words(const Word (&x)[N], const Word (&y)[N], const element_rule& rule)
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
  FANIN_HOST_DEVICE number most_of(const Word (&x)[N]) const {
    Word size[N];
    for (int i = 0; i < N; ++i) size[i] = static_cast<Word>(x[i] & static_cast<Word>(~upper_bit<Word>));
    return words::read(extreme_word<true>(size), rule_);
  }
  FANIN_HOST_DEVICE void get(const Word (&x)[N], number (&to)[N], bool again) const {
    if (!again) return words::read_all(x, to, rule_);
    std::uint32_t registers[N * sizeof(Word) / 4];
    std::memcpy(registers, x, sizeof x);
    // The compiler does not know that these are the same words, and so keeps no numbers of theirs.
    NV_IF_TARGET(NV_IS_DEVICE, (for (std::uint32_t& one : registers) asm volatile("" : "+r"(one));))
    Word same[N];
    std::memcpy(same, registers, sizeof same);
    words::read_all(same, to, rule_);
  }

  const Word (&x_)[N];
  const Word (&y_)[N];
  const element_rule& rule_;
};

/// Products of pairs of numbers. Digits: those of the elements, which may be narrower.
template <class Pairs, int Digits>
class exact_products {
  using T = typename Pairs::number;
  static constexpr int N = Pairs::count;
  static constexpr bool rounds = std::is_same_v<T, double>;
  static constexpr int parts = Digits <= 12 ? 1 : 2;  ///< most products have no more
  static constexpr int least = 101, most = 2044;      ///< of the exponent of the bound of all products, with the bias

 public:
  FANIN_HOST_DEVICE explicit exact_products(const Pairs& pairs) : pairs_(pairs) {
    constexpr int shift = rounds ? 20 : 23, none = rounds ? 0x7ff : 0xff;  // the exponent of what is not finite
    const auto of_x = static_cast<int>(upper_half(pairs.most_of_x()) >> shift);
    const auto of_y = static_cast<int>(upper_half(pairs.most_of_y()) >> shift);
    const int exponent = of_x + of_y + (rounds ? -1022 : 770);
    unit_ = exponent > least ? exponent - least : 0;
    is_in_range_ = of_x < none && of_y < none && exponent <= most;
  }

  /// The sum of the products.
  FANIN_HOST_DEVICE product_sum sum() const {
    std::int64_t part[3] = {};
    std::uint32_t signs = ~0u;
    bool has_rest = add_parts<parts>(part, &signs);
    if constexpr (parts < 2) {
      if (has_rest) has_rest = add_parts<2>(part);
    }
    if (has_rest) has_rest = add_parts<3>(part);
    if constexpr (rounds) has_rest = add_errors(part) || has_rest;
    // part[0] * 2^102 + part[1] * 2^51 + part[2]
    const auto low = (static_cast<std::uint64_t>(part[1]) << 51) + static_cast<std::uint64_t>(part[2]);
    const std::int64_t middle =
        (part[1] >> 13) + (part[2] >> 63) + (low < static_cast<std::uint64_t>(part[2]) ? 1 : 0);
    const auto upper = static_cast<std::uint64_t>(part[0]) << 38;
    const auto next = static_cast<std::uint64_t>(middle) + upper;
    const std::int64_t high = (part[0] >> 26) + (middle >> 63) + (next < upper ? 1 : 0);
    const std::uint64_t words[] = {low, next, static_cast<std::uint64_t>(high)};
    return placed<product_sum>(
        words, unit_, (~signs & product_sum::has_positive) | (is_in_range_ && !has_rest ? 0 : product_sum::unfit));
  }

  /// The sum of x, whose squares these products are. It fits if the sum of the squares does.
  FANIN_HOST_DEVICE number_sum sum_of_roots() const {
    std::int64_t part[2] = {};
    if (add_roots<1>(part)) add_roots<2>(part);
    const auto upper = static_cast<std::uint64_t>(part[0]) << 26;
    const std::uint64_t low = upper + static_cast<std::uint64_t>(part[1]);
    const std::int64_t high = (part[0] >> 38) + (part[1] >> 63) + (low < upper ? 1 : 0);
    const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
    return placed<number_sum>(words, unit_ / 2, number_sum::has_positive);
  }

 private:
  FANIN_HOST_DEVICE static double product(T x, T y) {
    return std::fma(static_cast<double>(x), static_cast<double>(y), 0.0);  // +0 in place of -0
  }
  /// Forms the sums of the first Parts parts of the products. Returns whether a rest is left. The upper bit of
  /// `signs` stays 1 if all products have the sign bit.
  template <int Parts>
  FANIN_HOST_DEVICE bool add_parts(std::int64_t (&part)[3], std::uint32_t* signs = nullptr) const {
    T x[N], y[N];
    pairs_.get(x, y, signs == nullptr);
    std::uint64_t sum[Parts] = {};
    std::uint32_t rest = 0;
    for (int i = 0; i < N; ++i) {
      double term = product(x[i], y[i]);
      if (signs != nullptr) *signs &= upper_half(x[i]) ^ upper_half(y[i]);
      for (int k = 0; k < Parts; ++k) cut(term, cutting_constant(unit_ + least + 2 - 51 * k), sum[k]);
      rest |= any_bit(term);
    }
    for (int k = 0; k < Parts; ++k) part[k] = static_cast<std::int64_t>(sum[k]);
    return rest != 0;
  }
  /// Adds the rounding errors of the products. Returns whether a rest is left, or an error may itself be rounded.
  FANIN_HOST_DEVICE bool add_errors(std::int64_t (&part)[3]) const {
    T x[N], y[N];
    pairs_.get(x, y, false);
    std::uint64_t sum[2] = {};
    std::uint32_t rest = 0, smallest = ~0u;
    for (int i = 0; i < N; ++i) {
      const double rounded = product(x[i], y[i]);
      double error = std::fma(-x[i], y[i], rounded);  // what was added too much
      for (int k = 0; k < 2; ++k) cut(error, cutting_constant(unit_ + least - 49 - 51 * k), sum[k]);
      rest |= any_bit(error);
      smallest = std::min(smallest, upper_half(rounded) & ~(1u << 31));
    }
    if (smallest >> 20 < least) {
      pairs_.get(x, y, true);
      for (int i = 0; i < N; ++i) {
        const bool is_small = (upper_half(product(x[i], y[i])) & ~(1u << 31)) >> 20 < least;
        if (is_small && x[i] != 0 && y[i] != 0) rest = 1;
      }
    }
    for (int k = 0; k < 2; ++k) part[1 + k] -= static_cast<std::int64_t>(sum[k]);
    return rest != 0;
  }
  /// Forms the sums of the first Parts parts of x, of which the second has units of 2^(unit_ / 2 - 537). A square is
  /// below 2^(unit_ - 920), and its root below 2^51 units of the first part. Returns whether a rest is left.
  template <int Parts>
  FANIN_HOST_DEVICE bool add_roots(std::int64_t (&part)[2]) const {
    T x[N], y[N];
    pairs_.get(x, y, true);
    std::uint64_t sum[Parts] = {};
    std::uint32_t rest = 0;
    for (int i = 0; i < N; ++i) {
      double term = x[i];
      for (int k = 0; k < Parts; ++k) cut(term, cutting_constant(unit_ / 2 + 564 - 26 * k), sum[k]);
      rest |= any_bit(term);
    }
    for (int k = 0; k < Parts; ++k) part[k] = static_cast<std::int64_t>(sum[k]);
    return rest != 0;
  }

  const Pairs& pairs_;
  int unit_;  ///< the last part has units of 2^(unit_ - 1074)
  bool is_in_range_;
};

/// Sums of products of numbers that have a sum of few words. The numbers are those of words by a rule. An operation
/// of one input has it twice, and so adds squares.
template <class Word>
struct scaled_products : word_numbers<Word> {
  using typename word_numbers<Word>::number;
  using state = product_sum;
  using use = bool;  ///< whether the value is the root of the sum
  static constexpr std::size_t inputs = 2;
  static constexpr bool order_free = true;
  static constexpr int digits = sizeof(Word) == 1 ? 4 : sizeof(Word) == 2 ? 11 : std::numeric_limits<number>::digits;
  /// The most elements of a state that fits: it has 33 bits or more above those of the numbers that are added at
  /// once.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 33;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  /// The states of the products of pairs of words, and of the squares of words.
  template <int N>
  FANIN_HOST_DEVICE static state of_pairs(const Word (&x)[N], const Word (&y)[N], const element_rule& rule) {
    return sum_of(pairs_of_words<Word, N, false>(x, y, rule));
  }
  template <int N>
  FANIN_HOST_DEVICE static state of_words(const Word (&x)[N], const element_rule& rule) {
    return sum_of(pairs_of_words<Word, N, true>(x, x, rule));
  }
  FANIN_HOST_DEVICE static void add(state& s, number x, number y) { s.add(sum_of(pair_of_numbers<number>(x, y))); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.add(other); }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned) { return value == sum_value::root; }
  /// The sum of `count` products, or its root, rounded to the format `to`.
  FANIN_HOST_DEVICE static std::uint64_t finish(const state& s, std::uint64_t count, use is_root,
                                                const detail::number_format& to) {
    if (count > 0 && s.is_negative_zero()) return to.sign;
    // Where the format is known, less code runs.
    if (!is_root && to.digits == std::numeric_limits<float>::digits) return detail::to_bits(rounded<float>(s, 1));
    if (!is_root && to.digits == std::numeric_limits<double>::digits) return detail::to_bits(rounded<double>(s, 1));
    if (!is_root) return rounded<std::uint64_t>(s, 1, to);
    std::uint32_t squares[std::extent_v<decltype(s.word)>];
    s.magnitude(squares);
    return detail::rounded_root<std::uint64_t>(squares, s.exponent(), false, to);
  }
  /// The exact accumulator A of `count` elements.
  template <class A>
  FANIN_HOST_DEVICE static A total(const state& s, std::uint64_t count) {
    A sum;
    if (count == 0) return sum;
    if (s.is_negative_zero()) return A::restore({}, false, 0);
    add_words(s, sum);
    return sum;
  }

 private:
  template <class Pairs>
  FANIN_HOST_DEVICE static state sum_of(const Pairs& pairs) {
    return exact_products<Pairs, digits>(pairs).sum();
  }
};

/// Both sums of a variance.
template <class Word>
struct scaled_moments : word_numbers<Word> {
  using typename word_numbers<Word>::number;
  struct state {
    product_sum squares;
    number_sum sum;
    FANIN_HOST_DEVICE bool fits() const { return squares.fits() && sum.fits(); }
  };
  using use = dispersion_measure;
  static constexpr bool order_free = true;
  static constexpr std::uint64_t most_elements = scaled_products<Word>::most_elements;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  template <int N>
  FANIN_HOST_DEVICE static state of_words(const Word (&x)[N], const element_rule& rule) {
    return sums_of(pairs_of_words<Word, N, true>(x, x, rule));
  }
  FANIN_HOST_DEVICE static void add(state& s, number x) { merge(s, sums_of(pair_of_numbers<number>(x, x))); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.squares.add(other.squares);
    s.sum.add(other.sum);
  }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned ddof) { return {value == sum_value::root, ddof}; }
  /// The measure of `count` elements, rounded to the format `to`. That of too few is NaN.
  FANIN_HOST_DEVICE static std::uint64_t finish(const state& s, std::uint64_t count, use wanted,
                                                const detail::number_format& to) {
    if (count <= wanted.ddof) return to.quiet_nan;
    constexpr int words = std::extent_v<decltype(s.sum.word)>;
    std::uint32_t sum[words], squares[2 * words - 2] = {};
    s.sum.magnitude(sum);
    const int above = s.squares.place() - 2 * s.sum.place();  // 0 or 1
    for (int i = 0; i < std::extent_v<decltype(s.squares.word)>; ++i) squares[i + above] = s.squares.word[i];
    return detail::rounded_dispersion<std::uint64_t>(sum, squares, 2 * s.sum.exponent(), count, wanted, to);
  }
  template <class A>
  FANIN_HOST_DEVICE static A total(const state& s, std::uint64_t count) {
    A both;
    if (count == 0) return both;
    add_words(s.sum, both.sum);
    add_words(s.squares, both.squares);
    return both;
  }

 private:
  template <class Pairs>
  FANIN_HOST_DEVICE static state sums_of(const Pairs& pairs) {
    const exact_products<Pairs, scaled_products<Word>::digits> squares(pairs);
    return {squares.sum(), squares.sum_of_roots()};
  }
};

/// Whether A adds terms of several elements at once, and its states are finished by a second kernel.
template <class A>
inline constexpr bool folds_terms = false;
template <class Word>
inline constexpr bool folds_terms<scaled_products<Word>> = true;
template <class Word>
inline constexpr bool folds_terms<scaled_moments<Word>> = true;

template <class T>
struct scaled_form<accumulator::exact_square_sum<T>> {
  using type = scaled_products<word_for<T>>;
};
template <class T>
struct scaled_form<accumulator::exact_dot<T>> {
  using type = scaled_products<word_for<T>>;
};
template <class T>
struct scaled_form<accumulator::exact_dispersion<T>> {
  using type = scaled_moments<word_for<T>>;
};
template <class Word, class N>
struct scaled_form<by_word<Word, accumulator::exact_square_sum<N>>> {
  using type = scaled_products<Word>;
};
template <class Word, class N>
struct scaled_form<by_word<Word, accumulator::exact_dot<N>>> {
  using type = scaled_products<Word>;
};
template <class Word, class N>
struct scaled_form<by_word<Word, accumulator::exact_dispersion<N>>> {
  using type = scaled_moments<Word>;
};

}  // namespace fanin::cuda
