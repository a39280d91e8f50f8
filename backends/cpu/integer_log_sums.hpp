// SPDX-License-Identifier: Apache-2.0
// The loops of log_sum_exp of integers, with the bits that the same numbers have as doubles.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {

/// Folds any number of integers in the fixed order. Memory: 8 KiB of stack, and that of fold_log_sums().
template <std::integral T>
void fold_integer_log_sums(const T* x, std::size_t count, log_sum_row<double>& out);
/// The merge of the states of a row of integers of 8 bits.
accumulator::scaled_sum total_of_bytes(const log_sum_row<double>& row);

/// The distance of references of integers of 8 bits is below this, or infinite.
inline constexpr int least_power = 256;
/// merge_log_sums() with the elements as references, and without sums. Neighbouring states all have elements, or
/// none.
void add_rows_of_bytes(const std::int8_t* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width,
                       double* largest, double* sum);
void add_rows_of_bytes(const std::uint8_t* x, std::size_t rows, std::ptrdiff_t step, std::size_t row_width,
                       double* largest, double* sum);
/// merge_log_sums() of one row of states of integers of 8 bits.
void merge_log_sums_of_bytes(const double* largest, const double* sum, std::size_t row_width, double* into_largest,
                             double* into_sum);

}  // namespace fanin::cpu
