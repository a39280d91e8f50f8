// SPDX-License-Identifier: Apache-2.0
// Folds of integers and their SIMD leaves: sums, sums of magnitudes and of squares, products. All of them are exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/integer.hpp>
#include <fanin/accumulator/moments.hpp>
#include <fanin/loop.hpp>

namespace fanin::cpu {

/// The most elements that a leaf takes. Its sums of 64 bits do not overflow for so many elements.
inline constexpr std::size_t most_integers = std::size_t{1} << 30;

/// The sum of the elements, or of their magnitudes. `prefetches`: whether what follows in memory is to be prefetched.
template <class T>
accumulator::int128 sum_leaf(const T* x, std::size_t count, bool magnitudes, bool prefetches);

/// A sum of squares. A sum of up to 2^30 squares takes 158 bits.
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

/// The most elements whose sums finish_integers_each() takes.
inline constexpr std::size_t most_in_fraction = 65536;
/// Acts as arithmetic::reduce_each() for sums, means, norms and variances of integers. Arrays are left without
/// elements, of more than `most_in_fraction` elements, where a sum of 64 bits overflows or squares have more than 100
/// bits, and where round_fractions() leaves the result.
template <class T>
std::uint64_t reduce_integers_each(operation what, const detail::operands* runs, const std::size_t* counts,
                                   std::size_t number, element_type result, void* out);

/// Acts as reduce_integers_each() for elements of type i8, or u8. All arrays are left if one is empty or longer than
/// 256 elements. (byte_sums.cpp)
std::uint64_t reduce_bytes_each(operation what, bool is_signed, const detail::operands* runs,
                                const std::size_t* counts, std::size_t number, void* out);
/// The sums of integers and of their squares, as far as an operation needs them.
struct integer_total {
  accumulator::int128 sum;
  square_total squares;
};
/// Writes the results of such sums of counts[i] elements. Bit i of the returned number says that result i is left.
/// Results are left as reduce_integers_each() leaves them.
std::uint64_t finish_integers_each(operation what, const integer_total* totals, const std::size_t* counts,
                                   std::size_t number, element_type result, void* out);

/// A fraction. The numerator has at most 120 bits, and the denominator is a whole number.
struct fraction {
  accumulator::int128 numerator;
  double denominator;
};
/// Writes the fractions, or their roots, rounded once. Bit i of the returned number says that fraction i is left: it
/// is too near to the middle of two doubles. All are left without fused multiply-adds. (rounded_runs.cpp)
std::uint64_t round_fractions(bool roots, const fraction* fractions, std::size_t number, double* out);

/// Fold the elements into a state as the accumulator's add() does one after the other. Defined for every integer.
template <class T, bool Magnitudes>
void add_integers(const T* x, std::size_t count, accumulator::int128& into);
template <class T>
void add_integer_squares(const T* x, std::size_t count, accumulator::uint128& into);
template <class T>
void add_integer_moments(const T* x, std::size_t count, accumulator::integer_moments& into);
template <class T>
void multiply_integers(const T* x, std::size_t count, accumulator::integer_product_state& into);

}  // namespace fanin::cpu
