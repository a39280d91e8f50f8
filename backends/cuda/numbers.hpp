// SPDX-License-Identifier: Apache-2.0
// Makes floats of words by a rule that is known at run time. The rule has the format of a narrow float, and the term
// that a sum adds. So one kernel serves all formats of one width, and several sums.
#pragma once

#include <algorithm>
#include <limits>

#include <fanin/accumulator/rounded.hpp>

#include "backends/cuda/float_log_sum.hpp"
#include "backends/cuda/keys.hpp"

namespace fanin::cuda {

/// The digits of each float of the size of a word, by the rows of the catalogue; 0 for other types.
template <class Word>
inline constexpr auto digits_of_formats = element_rows.for_each([]<class T>(const element_row<T>&) {
  return floating<T> && sizeof(T) == sizeof(Word) ? std::numeric_limits<T>::digits : 0;
});
/// The last row before `end` that has such a float; element_count if there is none.
template <class Word>
constexpr std::size_t format_before(std::size_t end) {
  for (std::size_t i = end; i > 0; --i) {
    if (digits_of_formats<Word>[i - 1] > 0) return i - 1;
  }
  return element_count;
}

/// Calls f(T()) for the float T that `type` names and that has the size of a word.
template <class Word, std::size_t End = element_count, class F>
FANIN_HOST_DEVICE void with_format(element_type type, const F& f) {
  constexpr std::size_t last = format_before<Word>(End);
  using T = detail::element_at<last>;
  if constexpr (format_before<Word>(last) == element_count) {
    f(T());
  } else {
    type == type_of<T> ? f(T()) : with_format<Word, last>(type, f);
  }
}
template <class Word, class F>
FANIN_HOST_DEVICE void with_format(const element_rule& rule, const F& f) {
  with_format<Word>(rule.type, f);
}

/// The float of the size of a word that has the most digits.
template <class Word>
using widest_format = detail::element_at<static_cast<std::size_t>(
    std::max_element(digits_of_formats<Word>.begin(), digits_of_formats<Word>.end()) -
    digits_of_formats<Word>.begin())>;

/// The number of a word.
template <class T>
FANIN_HOST_DEVICE computed_as<T> number_of_word(word_for<T> word) {
  if constexpr (narrow_float<T>) {
    return T::of_bits(word);
  } else {
    return detail::from_bits<T>(word);
  }
}

/// The numbers in the halves of a register.
template <class T>
FANIN_HOST_DEVICE float lower_number(std::uint32_t pair) {
  if constexpr (std::is_same_v<T, bf16>) return detail::from_bits<float>(pair << 16);
  return T::of_bits(static_cast<std::uint16_t>(pair));
}
template <class T>
FANIN_HOST_DEVICE float upper_number(std::uint32_t pair) {
  if constexpr (std::is_same_v<T, bf16>) return detail::from_bits<float>(pair & 0xffff0000u);
  return T::of_bits(static_cast<std::uint16_t>(pair >> 16));
}

/// Whether A adds numbers as they are, so that terms may take their place.
template <class A>
inline constexpr bool adds_terms = false;
template <class N>
inline constexpr bool adds_terms<accumulator::plain_sum<N>> = true;

/// Reads words as numbers, in the format of a rule.
template <class Word>
struct word_numbers {
  using element = Word;
  using number = std::conditional_t<sizeof(Word) == 8, double, float>;
  using rule = element_rule;
  /// Reads all words after one branch, which costs less than a branch for each word.
  template <int N>
  FANIN_HOST_DEVICE static void read_all(const Word (&x)[N], number (&to)[N], const rule& r) {
    with_format<Word>(r, [&]<class T>(T) {
      for (int i = 0; i < N; ++i) to[i] = number_of_word<T>(x[i]);
    });
  }
  FANIN_HOST_DEVICE static number read(Word word, const rule& r) {
    const Word x[] = {word};
    number found[1];
    read_all(x, found, r);
    return found[0];
  }
  /// Reads the two words of each register, one after the other.
  template <int N>
  FANIN_HOST_DEVICE static void read_registers(const std::uint32_t (&x)[N], number (&to)[2 * N],
                                               const rule& r) requires(sizeof(Word) == 2) {
    with_format<Word>(r, [&]<class T>(T) {
      for (int i = 0; i < N; ++i) to[2 * i] = lower_number<T>(x[i]), to[2 * i + 1] = upper_number<T>(x[i]);
    });
  }
  /// Reads the lower words of all registers, and the upper ones.
  template <int N>
  FANIN_HOST_DEVICE static void read_halves(const std::uint32_t (&x)[N], number (&to)[2][N],
                                            const rule& r) requires(sizeof(Word) == 2) {
    with_format<Word>(r, [&]<class T>(T) {
      for (int i = 0; i < N; ++i) to[0][i] = lower_number<T>(x[i]), to[1][i] = upper_number<T>(x[i]);
    });
  }
};

/// Adds words to A, an accumulator of floats.
template <class Word, class A>
struct by_word : A {
  using element = Word;
  using number = computed_as<typename A::element>;
  using rule = element_rule;
  template <int N>
  FANIN_HOST_DEVICE static void read_all(const Word (&x)[N], number (&to)[N], const rule& r) {
    word_numbers<Word>::read_all(x, to, r);
    using format = detail::float_format<number>;
    const auto kept =
        static_cast<typename format::bits>(r.magnitudes ? format::sign - 1 : format::sign | (format::sign - 1));
    for (number& one : to) one = detail::from_bits<number>(detail::to_bits(one) & kept);
    if constexpr (adds_terms<A>) {
      for (number& one : to) one = accumulator::rounded_product(one, r.squares ? one : number{1});
    }
  }
  FANIN_HOST_DEVICE static number read(Word word, const rule& r) {
    const Word x[] = {word};
    number found[1];
    read_all(x, found, r);
    return found[0];
  }
};

/// No rule wants magnitudes of elements that are exponentiated.
template <class Word>
struct by_word<Word, float_log_sum> : float_log_sum, word_numbers<Word> {
  using typename word_numbers<Word>::element;
};

/// The accumulator of words in whose states kernels fold A, an accumulator of elements T; A itself where no other
/// type shares its kernels.
template <class T, class A>
struct shared_form {
  using type = A;
};
template <class T, class Term>
struct shared_form<T, accumulator::plain_sum<T, Term>> {
  using type = by_word<word_for<T>, accumulator::plain_sum<T>>;
};
template <class T>
struct shared_form<T, accumulator::plain_square_sum<T>> {
  using type = by_word<word_for<T>, accumulator::plain_sum<T>>;
};
template <class T, class Term>
struct shared_form<T, accumulator::compensated_sum<T, Term>> {
  using type = by_word<word_for<T>, accumulator::compensated_sum<T>>;
};
template <class T, class Term>
struct shared_form<T, accumulator::exact_sum<T, Term>> {
  using type = by_word<word_for<T>, accumulator::exact_sum<T>>;
};
template <class T>
struct shared_form<T, accumulator::exact_square_sum<T>> {
  using type = by_word<word_for<T>, accumulator::exact_square_sum<T>>;
};
template <class T>
struct shared_form<T, accumulator::exact_dispersion<T>> {
  using type = by_word<word_for<T>, accumulator::exact_dispersion<T>>;
};
template <class T>
struct shared_form<T, accumulator::exact_dot<T>> {
  using type = by_word<word_for<T>, accumulator::exact_dot<T>>;
};
/// The accumulator of floats that serves words of a narrow format.
template <class A>
struct of_narrow {
  using type = A;
};
template <class Word, class A>
struct of_narrow<by_word<Word, A>> {
  using type = A;
};
template <class T, class A>
struct shared_form<T, accumulator::widening<T, A>> {
  using type = by_word<word_for<T>, typename of_narrow<typename shared_form<float, A>::type>::type>;
};

}  // namespace fanin::cuda
