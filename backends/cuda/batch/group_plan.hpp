// SPDX-License-Identifier: Apache-2.0
// The tables in which groups of words are folded (group_words.cuh), for each operation and element type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/catalog.hpp>

namespace fanin::cuda {

/// The form of the states of groups: what accumulators of keys and of integers hold (keys.hpp, numbers.hpp).
enum class group_form : std::uint8_t { extremum, extrema, first_extremum, sums };

/// The term that an element adds to the sum of its group.
enum class group_term : std::uint8_t { integer, square, one_if_nonzero, one_if_zero };

/// Sums in a state: `count` sums of `words` words of 64 bits, after `first` others. Each begins `step` words behind
/// the one before it. The first one has `table_words` words of 32 bits in a table, and as many rows in device memory.
/// The second one, of squares, has `square_words`.
struct sums_of_state {
  unsigned count, first, words, step, table_words, square_words;
};
/// The words in a table of sums of squares of integers of 64 bits. The sum of 2^32 squares has 160 bits.
inline constexpr unsigned words_of_long_squares = 5;

/// The form of an operation's states, and the tables in which they are formed. Numbers are those of one group.
struct table_plan {
  group_form form;
  unsigned rows;        ///< words of 64 bits in device memory, without the number of elements
  unsigned table_rows;  ///< entries or words in a block's table
  bool counted;         ///< whether elements are counted
  sums_of_state sums;
};

inline table_plan plan_of(const operation_row& row, element_type type, bool adds) {
  const std::size_t bytes = byte_size(type);
  const bool is_long = bytes == 8, is_count = row.result == result_rule::count || row.result == result_rule::truth;
  if (row.unrounded && !is_count) {
    const bool is_magnitude_of_integers = row.result == result_rule::magnitude && is_integer(type);
    const bool both = row.form == result_form::extremes || is_magnitude_of_integers;
    const bool indexed = row.form == result_form::indexed;
    const group_form one = indexed ? group_form::first_extremum : group_form::extremum;
    const unsigned table_rows = both || is_long ? 2 : 1, places = is_long && indexed ? 1 : 0;
    return {both ? group_form::extrema : one, table_rows + places, table_rows, false, {}};
  }
  const bool has_moments = row.adds == summand::deviations, has_squares = has_moments || row.adds == summand::squares;
  const bool counted = is_quotient(row.value) || adds;
  sums_of_state sums;
  sums.count = has_moments ? 2 : 1;
  sums.first = has_squares && !has_moments && is_root(row.value) ? 1 : 0;  // norms have states of moments
  sums.table_words = is_long || (bytes == 4 && has_squares) ? 3 : 2;
  sums.words = sums.table_words == 3 && !is_count ? 2 : 1;
  const bool are_moments = has_moments || (has_squares && is_root(row.value));
  sums.step = are_moments && bytes == 4 ? 1 : sums.words;  // integer_moments_96 begins with a sum of one word
  const unsigned square_words = is_long ? words_of_long_squares : sums.table_words;
  if (has_squares && !has_moments) sums.table_words = square_words;
  sums.square_words = has_moments ? square_words : 0;
  const unsigned table_rows = std::max(sums.table_words + (counted ? 1u : 0u), sums.square_words);
  return {group_form::sums, sums.table_words + sums.square_words, table_rows, counted, sums};
}

/// The bytes of a block's table for each group. Entries of extrema have 64 bits, and words of sums have 32.
inline std::size_t table_bytes(const table_plan& plan) {
  return plan.table_rows * (plan.form == group_form::sums ? sizeof(std::uint32_t) : sizeof(std::uint64_t));
}

inline group_term term_of(const operation_row& row) {
  if (row.unrounded) return row.seeks == extremity::least ? group_term::one_if_zero : group_term::one_if_nonzero;
  return row.adds == summand::squares ? group_term::square : group_term::integer;
}

}  // namespace fanin::cuda
