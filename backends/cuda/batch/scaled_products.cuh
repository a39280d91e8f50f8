// SPDX-License-Identifier: Apache-2.0
// Exact sums of products and of squares in few words, and both sums of a variance. A sum is found not to fit if its
// terms are too far apart, or not finite; an exact accumulator then adds them again (refold_kernel.cuh).
#pragma once

#include <fanin/accumulator/moments.hpp>

#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/batch/term_sums.cuh"

namespace fanin::cuda {

/// Sums of products whose numbers are not too far apart for a sum of few words. A rule makes the numbers from
/// words. An operation of one input takes it twice, and so adds squares.
template <class Word>
struct scaled_products : word_numbers<Word> {
  using typename word_numbers<Word>::number;
  using state = product_sum;
  using sums = term_sums<number, false>;
  using use = bool;  ///< whether the value is the root of the sum
  static constexpr std::size_t inputs = 2;
  static constexpr bool order_free = true;
  static constexpr int digits = std::numeric_limits<widest_format<Word>>::digits;
  /// The most elements of a state that fits. The state has 33 bits or more above the bits of the numbers that are
  /// added at once.
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 33;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  FANIN_HOST_DEVICE static void add(state& s, number x, number y) {
    s.add(term_window<scaled_products>::state_of(pair_of_numbers<number>(x, y)));
  }
  FANIN_HOST_DEVICE static state state_of(const sums& s, int unit, bool fits) { return s.products(unit, fits); }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) { s.add(other); }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned) { return value == sum_value::root; }
  /// The sum of `count` products in R.
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count, use) {
    using format = detail::float_format<R>;
    if (count > 0 && s.is_negative_zero()) return detail::from_bits<R>(format::sign);
    return rounded<R>(s, 1);
  }
  /// The sum of `count` products, or its root, rounded to the format `to`.
  FANIN_HOST_DEVICE static std::uint64_t finish(const state& s, std::uint64_t count, use is_root,
                                                const detail::number_format& to) {
    if (count > 0 && s.is_negative_zero()) return to.sign;
    // If the compiler knows the format, less code runs.
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
  using sums = term_sums<number, true>;
  using use = dispersion_measure;
  static constexpr int digits = std::numeric_limits<widest_format<Word>>::digits;
  static constexpr bool order_free = true;
  static constexpr std::uint64_t most_elements = scaled_products<Word>::most_elements;

  FANIN_HOST_DEVICE static constexpr state identity() { return {}; }
  FANIN_HOST_DEVICE static void add(state& s, number x) {
    merge(s, term_window<scaled_moments>::state_of(pair_of_numbers<number>(x, x)));
  }
  FANIN_HOST_DEVICE static state state_of(const sums& s, int unit, bool fits) {
    return {s.products(unit, fits), s.numbers(unit)};
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.squares.add(other.squares);
    s.sum.add(other.sum);
  }

  FANIN_HOST_DEVICE static use use_of(sum_value value, unsigned ddof) { return {is_root(value), ddof}; }
  /// The measure of `count` elements, rounded to the format `to`. The measure of too few elements is NaN.
  FANIN_HOST_DEVICE static std::uint64_t finish(const state& s, std::uint64_t count, use wanted,
                                                const detail::number_format& to) {
    if (count <= wanted.ddof) return to.quiet_nan;
    constexpr int words = std::extent_v<decltype(s.sum.word)>, square_words = std::extent_v<decltype(s.squares.word)>;
    std::uint32_t sum[words], squares[2 * words - 2] = {};
    s.sum.magnitude(sum);
    const int above = s.squares.place() - 2 * s.sum.place();  // 0 or 1
    for (int i = 0; i < square_words; ++i) squares[i + above] = s.squares.word[i];
    return detail::rounded_dispersion<std::uint64_t>(sum, squares, 2 * s.sum.exponent(), count, wanted, to);
  }
  template <class A>
  FANIN_HOST_DEVICE static A total(const state& s, std::uint64_t count) {
    A both;
    if (count == 0) return both;
    add_sum<number>(s.sum, both.sum);
    add_words(s.squares, both.squares);
    return both;
  }
};

/// Whether A adds terms of several elements at once.
template <class A>
inline constexpr bool folds_terms = requires {
  requires A::sums::of_products;
};

/// Whether kernels end sums of A where they form the state, since that takes little code: not roots nor variances.
template <class A>
inline constexpr bool ends_sums = !folds_terms<A>;
template <class Word>
inline constexpr bool ends_sums<scaled_products<Word>> = true;

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
