// SPDX-License-Identifier: Apache-2.0
// The loops of log_sum_exp of integers, with the bits that the same numbers have as doubles.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {

/// The integers from -512 to 511, and all of 8 bits, are small. They are near, and a table has their exponentials.
inline constexpr int least_small = -512, most_small = 511;
/// accumulator::exponential_of_near() of the small integers, as doubles, from the least one on.
const double* exponentials_of_small();

/// Whether x[0..count) are small integers, which exponentials_of_small() has.
template <std::integral T>
bool are_small(const T* x, std::size_t count) {
  if constexpr (sizeof(T) == 1) return true;
  using word = std::make_unsigned_t<T>;
  constexpr auto below = static_cast<word>(std::is_signed_v<T> ? -least_small : 0);
  constexpr auto last = static_cast<word>(most_small + below);
  word beyond = 0;
  for (std::size_t i = 0; i < count; ++i) beyond |= static_cast<word>(static_cast<word>(x[i] + below) & ~last);
  return beyond == 0;
}

/// Adds the exponentials of rows of small integers, `step` apart, to `sum`.
template <std::integral T>
void add_small_rows(const T* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width, double* sum);

/// Folds any number of integers in the fixed order. Memory: 8 KiB of stack, and that of fold_log_sums().
template <std::integral T>
void fold_integer_log_sums(const T* x, std::size_t count, log_sum_row<double>& out);
/// The states of several arrays, as fold_integer_log_sums() and total() form them.
template <std::integral T>
void fold_integer_log_sums_each(const detail::operands* runs, const std::size_t* counts, std::size_t number,
                                accumulator::scaled_sum* totals);

}  // namespace fanin::cpu
