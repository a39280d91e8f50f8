// SPDX-License-Identifier: Apache-2.0
// Tiles of rows whose elements lie apart: rows whose first elements are neighbours in memory, or as close together as
// they are.
#pragma once

#include <algorithm>

#include "backends/cpu/batch/axes.hpp"

namespace fanin::cpu {

/// A part of all rows of one tile.
struct row_tile {
  place base;  ///< where the first row's first element is
  std::size_t rows;
  std::size_t first_result, result_distance;  ///< the rows' results
  std::size_t begin, count;                   ///< the elements of each row
};

/// How rows are cut: for one operation, so that there are `tasks` of them, or for several operations alike.
struct tile_cut {
  std::size_t tasks = 1;
  /// For several operations: the rows of a strip, which is cut into tiles of 2^k rows, and the elements of a part,
  /// which are 2^k blocks of each operation. 0 for one operation.
  std::size_t strip = 0, part = 0;
};

/// Rows cut into tiles, and these into parts of whole blocks.
class row_tiles {
 public:
  /// A tile has at most `rows_in_tile` rows, and a part 2^k blocks of `block` elements, or fewer at the end of a row.
  row_tiles(const batch& many, std::size_t rows_in_tile, std::size_t block, const tile_cut& cut);

  std::size_t tasks() const noexcept { return tiles_ * parts_; }
  std::size_t tiles() const noexcept { return tiles_; }
  /// The number of tiles that lie side by side; others have other indices on the other axes.
  std::size_t tiles_across() const noexcept { return tiles_across_; }
  /// The number of parts of each row.
  std::size_t parts() const noexcept { return parts_; }
  std::size_t length() const noexcept { return length_; }
  std::size_t rows_in_tile() const noexcept { return rows_in_tile_; }
  const array_axis& across() const noexcept { return across_; }

  /// The tasks tile * parts() + part follow each other for the parts of a tile.
  row_tile task(std::size_t i) const;

 private:
  std::span<const array_axis> outer() const { return {outer_.data(), outer_count_}; }

  /// Takes the kept axis on which elements are neighbours, or without one that on which they are closest together, as
  /// that across tiles. In the others, `outer_` has the stride of the results in place of the mask's.
  void take_axes(const batch& many);

  std::size_t length_;
  array_axis across_;
  std::size_t across_result_ = 0;
  std::array<array_axis, most_axes> outer_{}, outer_places_{};
  std::size_t outer_count_ = 0;
  std::size_t rows_in_tile_ = 1, tiles_across_ = 1, tiles_ = 1, part_ = 1, parts_ = 1;
};

/// Merges the parts of a tile into the first one, along the binary tree over their numbers.
template <class Merge>
void merge_parts(std::size_t parts, const Merge& merge) {
  for (std::size_t step = 1; step < parts; step *= 2) {
    for (std::size_t p = 0; p + step < parts; p += 2 * step) merge(p, p + step);
  }
}

}  // namespace fanin::cpu
