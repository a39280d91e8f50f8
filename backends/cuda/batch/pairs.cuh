// SPDX-License-Identifier: Apache-2.0
// Pairs of numbers whose products are summed, of registers that hold words.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cuda/numbers.hpp"
#include "backends/power_of_2.hpp"

namespace fanin::cuda {

/// The upper half of a number's bits.
FANIN_HOST_DEVICE inline std::uint32_t upper_half(float x) { return detail::to_bits(x); }
FANIN_HOST_DEVICE inline std::uint32_t upper_half(double x) {
  return static_cast<std::uint32_t>(detail::to_bits(x) >> 32);
}
/// A pair of numbers.
template <class T>
class pair_of_numbers {
 public:
  using number = T;
  static constexpr int count = 1;
  static constexpr bool squares = false;
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

/// Word i of the words in registers.
template <class Word, int Registers>
FANIN_HOST_DEVICE Word word_in(const std::uint32_t (&x)[Registers], int i) {
  if constexpr (sizeof(Word) == 8) {
    return std::uint64_t{x[2 * i + 1]} << 32 | x[2 * i];
  } else {
    constexpr int per_register = 4 / sizeof(Word);
    return static_cast<Word>(x[i / per_register] >> 8 * sizeof(Word) * (i % per_register));
  }
}

/// N pairs of words, which Words reads as numbers; with Squares, of a word and itself.
template <class Word, int N, bool Squares, class Words = word_numbers<Word>>
class pairs_of_words {
  using words = Words;
  using registers = registers_of_words<Word, N>;

 public:
  using number = typename words::number;
  static constexpr int count = N;
  static constexpr bool squares = Squares;
  FANIN_HOST_DEVICE pairs_of_words(const registers& x, const registers& y, const element_rule& rule)
      : x_(x), y_(y), rule_(rule) {}
  FANIN_HOST_DEVICE number most_of_x() const { return most_of(x_); }
  FANIN_HOST_DEVICE number most_of_y() const { return most_of(y_); }
  /// Returns true if the exponents of the numbers x, which get() has given, show that all are multiples of 2^place.
  FANIN_HOST_DEVICE bool are_multiples(const number (&x)[N], int place) const {
    // 2 * bits - 1 has no sign, grows with the magnitude, and is largest for 0, which is a multiple of everything.
    std::uint32_t least = ~0u, limit = 0;
    for (const number one : x) least = std::min(least, 2 * detail::to_bits(one) - 1);
    with_format<Word>(rule_, [&]<class T>(T) {
      using format = detail::float_format<T>;
      const int exponent = std::min(place + format::digits - 1, int{detail::float_format<float>::high});
      if (place > format::low) limit = 2 * detail::to_bits(power_of_2<float>(exponent)) - 1;
    });
    return least >= limit;
  }
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

}  // namespace fanin::cuda
