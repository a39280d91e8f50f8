// SPDX-License-Identifier: Apache-2.0
// The exact sum as kernels store it: a fixed-point number whose digits, the chunks, have 16 bits each in an integer
// of 64 bits. The upper bits of this integer collect the carries, so that threads can add to chunks at the same time
// and in any order.
#pragma once

#include <cstdint>
#include <type_traits>

#include <fanin/accumulator/complex.hpp>
#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/moments.hpp>

namespace fanin::cuda {

/// Flags of the terms that were added: infinities and NaN, as in a saved accumulator, and whether a term was not -0.
struct seen_bits {
  static constexpr unsigned special = 7;
  static constexpr unsigned nan = 1, plus_infinity = 2, minus_infinity = 4, not_negative_zero = 8;
};

/// A sum of at least one term: its value is the sum of chunk[i] * 2^(low + 16 i). The terms are x^Power, or for Power
/// 2 products of elements of T.
template <class T, int Power = 1>
struct chunk_sums {
  using format = detail::float_format<T>;
  using accumulator = basic_exact_accumulator<T, Power>;
  static constexpr int bits = 16;
  static constexpr int low = Power * format::low;
  static constexpr int high = Power * format::high;
  static constexpr int count = (high - low + 64 + bits - 1) / bits + 1;

  std::int64_t chunk[count];
  unsigned seen;

  FANIN_HOST_DEVICE std::int64_t& at(int i) { return chunk[i]; }
  FANIN_HOST_DEVICE unsigned& flags() { return seen; }
  FANIN_HOST_DEVICE void set_flags(unsigned flags) { seen = flags; }

  /// The sum in two's complement, in units of 2^(low + 16 first), least significant word first: two chunks a word.
  /// The chunks below `first` are 0, and the words can hold the sum.
  template <int N>
  FANIN_HOST_DEVICE void to_words(std::uint32_t (&words)[N], int first) const {
    std::int64_t carry = 0;
    for (int i = 0; i < 2 * N; ++i) {
      const std::int64_t sum = first + i < count ? chunk[first + i] + carry : carry;
      const auto digit = static_cast<std::uint32_t>(sum & 0xffff);
      words[i / 2] = i % 2 == 0 ? digit : words[i / 2] | digit << bits;
      carry = sum >> bits;
    }
  }
  template <class Accumulator>
  FANIN_HOST_DEVICE Accumulator to_accumulator() const {
    typename accumulator::sum_type::words words;
    to_words(words, 0);
    return Accumulator::restore(words, (seen & seen_bits::not_negative_zero) != 0, seen & seen_bits::special);
  }
  FANIN_HOST_DEVICE explicit operator accumulator() const { return to_accumulator<accumulator>(); }
};

/// A sum of products of two arrays' elements.
template <class T>
struct chunk_products : chunk_sums<T, 2> {
  FANIN_HOST_DEVICE explicit operator exact_dot_accumulator<T>() const {
    return this->template to_accumulator<exact_dot_accumulator<T>>();
  }
};

/// The sums of the real and of the imaginary parts.
template <class Sum>
struct two_parts {
  static constexpr int count = 2 * Sum::count;
  Sum re, im;

  /// The chunks of both sums. The chunks of `re` come first.
  FANIN_HOST_DEVICE std::int64_t& at(int i) { return i < Sum::count ? re.chunk[i] : im.chunk[i - Sum::count]; }
  /// While a kernel adds, flags_of(re, im) are the flags of both sums.
  FANIN_HOST_DEVICE unsigned& flags() { return re.seen; }
  FANIN_HOST_DEVICE static unsigned flags_of(unsigned re, unsigned im) { return re | im << 4; }
  FANIN_HOST_DEVICE void set_flags(unsigned flags) { re.seen = flags & 15, im.seen = flags >> 4; }
};
/// The sums of the parts of complex numbers.
template <class T>
struct chunk_parts : two_parts<chunk_sums<T, 1>> {
  FANIN_HOST_DEVICE explicit operator accumulator::part_states<exact_accumulator<T>>() const {
    return {static_cast<exact_accumulator<T>>(this->re), static_cast<exact_accumulator<T>>(this->im)};
  }
};
/// The sum of the squares of both, which the state of the real parts has.
template <class T>
struct chunk_part_squares {
  chunk_sums<T, 2> both;
  FANIN_HOST_DEVICE explicit operator accumulator::part_states<exact_square_accumulator<T>>() const {
    return {static_cast<exact_square_accumulator<T>>(both), {}};
  }
};
/// The sums of the products of real numbers in the parts of a dot product.
template <class T>
struct chunk_part_products : two_parts<chunk_products<T>> {
  template <class State>
  FANIN_HOST_DEVICE explicit operator State() const {
    return {{static_cast<exact_dot_accumulator<T>>(this->re)}, {static_cast<exact_dot_accumulator<T>>(this->im)}};
  }
};

template <class T, int Power>
using complex_sums = std::conditional_t<Power == 1, chunk_parts<T>, chunk_part_products<T>>;

/// The two sums of a variance.
template <class T>
struct chunk_moments {
  static constexpr int count = chunk_sums<T, 1>::count + chunk_sums<T, 2>::count;

  chunk_sums<T, 1> sum;
  chunk_sums<T, 2> squares;

  /// The chunks of both sums. The chunks of `sum` come first.
  FANIN_HOST_DEVICE std::int64_t& at(int i) { return i < sum.count ? sum.chunk[i] : squares.chunk[i - sum.count]; }
  FANIN_HOST_DEVICE unsigned& flags() { return sum.seen; }
  FANIN_HOST_DEVICE void set_flags(unsigned flags) { sum.seen = flags; }

  FANIN_HOST_DEVICE explicit operator exact_moments_accumulator<T>() const {
    return {static_cast<exact_accumulator<T>>(sum), static_cast<exact_square_accumulator<T>>(squares)};
  }
};

}  // namespace fanin::cuda
