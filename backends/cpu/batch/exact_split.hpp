// SPDX-License-Identifier: Apache-2.0
// The addition of elements to the words of their groups or columns, by the best instruction set of this machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/batch/exact_window.hpp"

namespace fanin::cpu {

/// Elements that are split together. Their words stay in the L1 cache.
inline constexpr std::size_t split_block = 128;
/// Rows that are added together to the words of their columns.
inline constexpr std::size_t rows_together = 32;
/// Columns whose sums as doubles stay in an L1 cache, the rows that are added to these sums at once, and a multiple
/// of the elements of each vector.
inline constexpr std::size_t columns_together = 512, rows_at_once = 8, whole_vectors = 8;
/// Columns of which rows_together rows stay in an L1 cache as numbers of T.
template <class T>
inline constexpr std::size_t copied_columns = 512 / sizeof(T);
/// The floats of 16 bits in a cache line.
inline constexpr std::size_t halves_in_line = 32;

/// The sums of columns have fewer words, which hold larger numbers: an element of T has so many, and a square has
/// twice as many. A sum of words stays in 64 bits for most_rows elements.
template <class T>
inline constexpr std::size_t column_words = sizeof(T) / 4;
inline constexpr std::size_t most_rows = 2048;

/// The loops for elements of T, float or double. They need round to nearest and no flushing of subnormals.
template <class T>
struct split_loops {
  /// Adds x[i] to state (group[i] << copies) + i % 2^copies of `states`, for each i below `count`, which is at most
  /// split_block. Elements that do not fit the window are left out. Their places are written to `misfits`, and their
  /// number is returned. For squares of doubles, the constants of words 0 to 2 are added twice for each element.
  /// If `prefetches` is true, the states of moments are prefetched.
  std::size_t (*add)(const exact_window& window, const T* x, std::size_t count, const std::uint32_t* group,
                     unsigned copies, bool prefetches, std::uint64_t* states, std::uint8_t* misfits);
  /// Adds x[r * along + c] to the words of column c, for each r below `rows` and c below `columns`. `rows` is at most
  /// rows_together. planes[c] is word 0 of column c, planes[distance + c] its word 1, and so on; the number of
  /// elements and the words of the squares follow. `distance` is a multiple of the elements of a vector. Columns with
  /// an element that does not fit the window are left out. They are written to `misfits`, and their number is
  /// returned.
  std::size_t (*add_rows)(const exact_window& window, const T* x, std::ptrdiff_t along, std::size_t rows,
                          std::size_t columns, std::uint64_t* planes, std::size_t distance, std::uint32_t* misfits);
  /// Does what add_rows() does, and returns true. Does nothing and returns false if a sum of `rows` elements is no
  /// double, or fits in no words. `rows` is a multiple of rows_at_once, and `columns`, up to columns_together, one of
  /// whole_vectors. Null if the instruction set cannot prove such sums. The elements at x have `type`: the type of T,
  /// or if `sums_halves` f16 or bf16. Columns of these are a multiple of halves_in_line.
  bool (*add_sums)(const exact_window& window, const void* x, element_type type, std::ptrdiff_t along,
                   std::size_t rows, std::size_t columns, std::uint64_t* planes, std::size_t distance);
  bool sums_halves;
};

/// The loops for the best instruction set of this machine.
template <class T>
const split_loops<T>& find_split_loops(exact_terms terms);

}  // namespace fanin::cpu
