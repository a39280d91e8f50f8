// SPDX-License-Identifier: Apache-2.0
// Folds of integers with SIMD leaves: sums, sums of magnitudes and of squares, products. All of them are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/moments.hpp>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

namespace fanin::cpu {

/// The leaves take up to so many elements, of which their sums of 64 bits do not overflow.
inline constexpr std::size_t most_integers = std::size_t{1} << 30;

/// The sum of the elements, or of their magnitudes. `prefetches`: whether what follows in memory is to be prefetched.
template <class T>
accumulator::int128 sum_leaf(const T* x, std::size_t count, bool magnitudes, bool prefetches);

/// A sum of squares, of which up to 2^30 take 158 bits.
struct square_total {
  accumulator::uint128 low;
  std::uint64_t high;  ///< the bits from 2^128 on
};
template <class T>
square_total squares_leaf(const T* x, std::size_t count, bool prefetches);

/// The first `count` elements of an array, which are all 1 or -1, and whether their product is -1. Another element,
/// or the end of the array, is among the next 64 bytes; without vectors `count` is 0.
struct leading_units {
  std::size_t count;
  bool negative;
};
template <class T>
leading_units units_leaf(const T* x, std::size_t count);

template <class T, bool Magnitudes>
void add_integers(const T* x, std::size_t count, accumulator::int128& into) {
  for (std::size_t begin = 0; begin < count; begin += most_integers) {
    into += sum_leaf(x + begin, std::min(most_integers, count - begin), Magnitudes, is_long<T>(count));
  }
}

template <class T>
void add_integer_squares(const T* x, std::size_t count, accumulator::uint128& into) {
  using A = accumulator::integer_square_sum<T>;
  for (std::size_t begin = 0; begin < count; begin += most_integers) {
    const square_total total = squares_leaf(x + begin, std::min(most_integers, count - begin), is_long<T>(count));
    A::merge(into, total.high != 0 ? A::limit : total.low);
  }
}

template <class T>
void add_integer_moments(const T* x, std::size_t count, accumulator::integer_moments& into) {
  for (std::size_t begin = 0; begin < count; begin += twice_read<T>) {
    const std::size_t n = std::min(twice_read<T>, count - begin);
    const square_total squares = squares_leaf(x + begin, n, is_long<T>(count));
    accumulator::integer_spread<T>::merge(into, {sum_leaf(x + begin, n, false, false), squares.low, squares.high});
  }
}

/// Other elements than 0, 1 and -1 at least double the magnitude of a product, so that 64 of them make it too large.
/// From then on only a zero matters, and after a zero nothing.
template <class T>
void multiply_integers(const T* x, std::size_t count, accumulator::integer_product_state& into) {
  using A = accumulator::integer_product<T>;
  constexpr std::size_t vector = 64 / sizeof(T), block = 65536 / sizeof(T);
  std::size_t i = 0;
  while (i < count && into.magnitude != 0 && !into.too_large) {
    const leading_units units = units_leaf(x + i, count - i);
    A::merge(into, {1, units.negative, false});
    i += units.count;
    for (const std::size_t end = std::min(i + vector, count); i < end; ++i) A::add(into, x[i]);
  }
  for (; i < count && into.magnitude != 0; i += std::min(block, count - i)) {
    if (zeros_leaf(x + i, std::min(block, count - i), is_long<T>(count)) > 0) A::add(into, T{0});
  }
}

}  // namespace fanin::cpu
