// SPDX-License-Identifier: Apache-2.0
// Exact sums of products and of squares in few words, and both sums of a variance. A sum is found not to fit if its
// terms are too far apart, or not finite; an exact accumulator then adds them again (refold_kernel.cuh).
//
// A product of floats is a double, and a product of doubles is one and its rounding error. Additions of 1.5 * 2^k cut
// the doubles into parts: the lower bits of the sum are an integer in units of 2^(k - 52), and what is subtracted is
// exact. The units are chosen for the largest product x y of those that are added at once: it is below 2^153 units of
// the last part.
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

/// Adds the part of each x that is a whole number of units to `sum`, in units of 2^(exponent - 1075), and leaves the
/// rest in x. |x| is below 2^51 units. Returns whether a rest is not +0.
template <int N>
FANIN_HOST_DEVICE bool cut(double (&x)[N], int exponent, std::int64_t& sum) {
  const auto constant = std::uint64_t{static_cast<unsigned>(exponent)} << 52 | std::uint64_t{1} << 51;
  std::uint64_t bits = 0 - N * constant;
  std::uint32_t rest = 0;
  for (double& one : x) {
    const double shifted = one + detail::from_bits<double>(constant);
    bits += detail::to_bits(shifted);
    one -= shifted - detail::from_bits<double>(constant);
    const std::uint64_t left = detail::to_bits(one);
    rest |= static_cast<std::uint32_t>(left) | static_cast<std::uint32_t>(left >> 32);
  }
  sum += static_cast<std::int64_t>(bits);
  return rest != 0;
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

/// The products of pairs of numbers T as doubles, and if T is double, their rounding errors.
template <class T, int N>
class exact_products {
  static constexpr bool rounds = std::is_same_v<T, double>;
  static constexpr int least = 101, most = 2044;  ///< exponents of the largest product, with the bias

 public:
  FANIN_HOST_DEVICE exact_products(const T (&x)[N], const T (&y)[N]) {
    std::uint32_t largest = 0, smallest = ~0u, signs = ~0u;
    for (int i = 0; i < N; ++i) {
      product_[i] = std::fma(static_cast<double>(x[i]), static_cast<double>(y[i]), 0.0);  // +0 in place of -0
      if constexpr (rounds) error_[i] = std::fma(-x[i], y[i], product_[i]);
      const std::uint32_t size = upper_half(product_[i]) & ~(1u << 31);
      largest = std::max(largest, size);
      if constexpr (rounds) smallest = std::min(smallest, size);
      signs &= upper_half(x[i]) ^ upper_half(y[i]);
    }
    const int exponent = static_cast<int>(largest >> 20);
    unit_ = exponent > least ? exponent - least : 0;
    flags_ = (~signs & product_sum::has_positive) | (exponent > most ? product_sum::unfit : 0);
    if constexpr (rounds) {
      // Errors of smaller products may themselves be rounded.
      if (smallest >> 20 < least) {
        for (int i = 0; i < N; ++i) {
          const bool is_small = (upper_half(product_[i]) & ~(1u << 31)) >> 20 < least;
          if (is_small && x[i] != 0 && y[i] != 0) flags_ |= product_sum::unfit;
        }
      }
    }
  }

  /// The sum of the products.
  FANIN_HOST_DEVICE product_sum sum() const {
    double rest[N];
    for (int i = 0; i < N; ++i) rest[i] = product_[i];
    std::int64_t part[3] = {};
    std::uint32_t flags = flags_;
    bool has_rest = cut(rest, unit_ + least + 2, part[0]);
    if (rounds || has_rest) has_rest = cut(rest, unit_ + least - 49, part[1]);
    if (has_rest && cut(rest, unit_ + least - 100, part[2])) flags |= product_sum::unfit;
    if constexpr (rounds) {
      std::int64_t errors[2] = {};
      for (int i = 0; i < N; ++i) rest[i] = error_[i];
      if (cut(rest, unit_ + least - 49, errors[0]) && cut(rest, unit_ + least - 100, errors[1])) {
        flags |= product_sum::unfit;
      }
      part[1] -= errors[0];
      part[2] -= errors[1];
    }
    // part[0] * 2^102 + part[1] * 2^51 + part[2]
    const auto low = (static_cast<std::uint64_t>(part[1]) << 51) + static_cast<std::uint64_t>(part[2]);
    const std::int64_t middle =
        (part[1] >> 13) + (part[2] >> 63) + (low < static_cast<std::uint64_t>(part[2]) ? 1 : 0);
    const auto upper = static_cast<std::uint64_t>(part[0]) << 38;
    const auto next = static_cast<std::uint64_t>(middle) + upper;
    const std::int64_t high = (part[0] >> 26) + (middle >> 63) + (next < upper ? 1 : 0);
    const std::uint64_t words[] = {low, next, static_cast<std::uint64_t>(high)};
    return placed<product_sum>(words, unit_, flags);
  }

  /// The sum of x, whose squares these products are. It fits if the sum of the squares does.
  FANIN_HOST_DEVICE number_sum sum_of_roots(const T (&x)[N]) const {
    double rest[N];
    for (int i = 0; i < N; ++i) rest[i] = x[i];
    std::int64_t part[2] = {};
    // A square is below 2^(unit_ - 920), and a root below 2^51 units of the first part.
    if (cut(rest, unit_ / 2 + 564, part[0])) cut(rest, unit_ / 2 + 538, part[1]);
    const auto upper = static_cast<std::uint64_t>(part[0]) << 26;
    const std::uint64_t low = upper + static_cast<std::uint64_t>(part[1]);
    const std::int64_t high = (part[0] >> 38) + (part[1] >> 63) + (low < upper ? 1 : 0);
    const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
    return placed<number_sum>(words, unit_ / 2, number_sum::has_positive);
  }

 private:
  double product_[N];
  [[no_unique_address]] std::conditional_t<rounds, double[N], std::monostate> error_;
  int unit_;  ///< of the last part: 2^(unit_ - 1074)
  std::uint32_t flags_;
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
  /// The most elements of a state that fits: it has 33 bits or more above those of the numbers that are added at
  /// once.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 33;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  template <int N>
  FANIN_HOST_DEVICE static state of_vectors(const number (&x)[N], const number (&y)[N]) {
    return exact_products<number, N>(x, y).sum();
  }
  FANIN_HOST_DEVICE static void add(state& s, number x, number y) {
    const number xs[] = {x}, ys[] = {y};
    s.add(of_vectors(xs, ys));
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.add(other); }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned) { return value == sum_value::root; }
  /// The sum of `count` products, or its root, rounded to the format `to`.
  FANIN_HOST_DEVICE static std::uint64_t finish(const state& s, std::uint64_t count, use is_root,
                                                const detail::number_format& to) {
    if (count > 0 && s.is_negative_zero()) return to.sign;
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
  FANIN_HOST_DEVICE static state of_vectors(const number (&x)[N], const number (&)[N]) {
    const exact_products<number, N> squares(x, x);
    return {squares.sum(), squares.sum_of_roots(x)};
  }
  FANIN_HOST_DEVICE static void add(state& s, number x) {
    const number one[] = {x};
    merge(s, of_vectors(one, one));
  }
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
