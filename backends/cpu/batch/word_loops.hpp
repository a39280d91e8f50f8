// SPDX-License-Identifier: Apache-2.0
// The loops over columns of words side by side, for operations whose order is free: sums of integers, counts of zeros
// and extrema. A loop knows a width of words. A rule, which is read at run time, makes numbers of the words of a
// type.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/integer.hpp>

namespace fanin::cpu {

/// How words become numbers, in bits. The word v becomes, with n = `negated` if v has its sign bit and else 0:
/// - in sums and squares ((v ^ n) - n) ^ flipped, as a number without a sign
/// - in extrema (v ^ n) ^ flipped, as a number with a sign
/// - in counts of zeros v without the bits in `negated`
/// - in products v, as a number with a sign unless `negated` is 0
struct word_rule {
  std::uint64_t negated = 0, flipped = 0;
  std::uint64_t largest_number = 0;  ///< the word is NaN if its bits without the sign are larger
  std::uint64_t nan = 0;             ///< the bits of the NaN that stands for any other
};

/// What the loops find of each column.
enum class word_kernel {
  zeros,    ///< how many words are zeros
  sum,      ///< the sum, of words of 64 bits the sums of their halves: the low ones first
  squares,  ///< the sum of squares. Of 32 bits: the sums of the halves of the squares. Of 64 bits: so for the squares
            ///< of the low halves, the products of both halves, and the squares of the high halves
  extrema,  ///< the largest number, and the largest of the complements of the numbers
  first,    ///< the largest number, and the first row that has it. NaN is larger than any number.
  product,  ///< the product, as write_product() writes it
};

/// A product of integers as two numbers.
inline void write_product(const accumulator::integer_product_state& s, std::uint64_t* out) {
  out[0] = s.magnitude;
  out[1] = std::uint64_t{s.negative} + 2 * std::uint64_t{s.too_large};
}
inline accumulator::integer_product_state read_product(const std::uint64_t* from) {
  return {from[0], (from[1] & 1) != 0, (from[1] & 2) != 0};
}

/// Columns keep small states, which are partial sums of few bits, side by side in vectors. For each column there are
/// `outputs` wide numbers, into which the small states are added when they are full.
struct word_loops {
  std::size_t outputs;
  std::size_t vector_columns;  ///< the columns of a vector. There must be so many, before or among those of a call.
  std::size_t planes, vector_bytes;
  std::size_t most_rows;  ///< the rows that small states hold

  /// The bytes of the small states of so many columns.
  constexpr std::size_t state_bytes(std::size_t columns) const {
    return (columns + vector_columns - 1) / vector_columns * planes * vector_bytes;
  }
  /// Makes the states those of no rows.
  void (*reset)(void* states, std::size_t columns, std::uint64_t* wide);
  /// Adds the rows with the numbers first, ..., first + rows - 1 to the small states, which hold them. Rows begin
  /// `along` words apart.
  void (*fold)(const word_rule& rule, const void* x, std::ptrdiff_t along, std::size_t rows, std::size_t columns,
               std::size_t first, void* states);
  /// Merges the small states into the wide ones, and makes the small ones those of no rows. `base` is the place of
  /// row 0.
  void (*flush)(void* states, std::size_t columns, std::uint64_t base, std::uint64_t* wide);
  /// Merges the wide states of so many columns.
  void (*merge)(std::uint64_t* into, const std::uint64_t* from, std::size_t columns);
};

/// Rows that begin so many bytes apart are read eight neighbours at a time. Of nearer rows those are read together
/// that are an eighth of all rows apart.
constexpr std::size_t far_bytes = 8192;

/// The loops for the best instruction set of this machine, for words of 1, 2, 4 or 8 bytes.
const word_loops& find_word_loops(word_kernel kernel, std::size_t word_bytes);

}  // namespace fanin::cpu
