// SPDX-License-Identifier: Apache-2.0
// Tiles of rows whose elements lie apart: rows whose first elements are neighbours in memory, or as close together as
// they are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backends/cpu/batch/axes.hpp"

namespace fanin::cpu {

/// A part of all rows of one tile.
struct row_tile {
  place base;  ///< where the first row's first element is
  std::size_t rows;
  std::size_t first_result, result_distance;  ///< the rows' results
  std::size_t begin, count;                   ///< the elements of each row
};

/// Rows cut into tiles, and these into parts of whole blocks, so that there is a task for each thread.
class row_tiles {
 public:
  /// A tile has at most `rows_in_tile` rows, and a part 2^k blocks of `block` elements, or fewer at the end of a row.
  row_tiles(const batch& many, std::size_t rows_in_tile, std::size_t block, unsigned threads, bool may_split)
      : length_(places(reduced_axes(many))) {
    take_axes(many);
    rows_in_tile_ = std::min(rows_in_tile, across_.count);
    tiles_across_ = (across_.count + rows_in_tile_ - 1) / rows_in_tile_;
    const std::size_t tiles = places(outer()) * tiles_across_, blocks = (length_ + block - 1) / block;
    constexpr std::size_t tasks_per_thread = 8;
    const std::size_t wanted = may_split ? (tasks_per_thread * threads + tiles - 1) / tiles : 1;
    part_ = block * std::bit_ceil((blocks + wanted - 1) / wanted);
    parts_ = (length_ + part_ - 1) / part_;
    tasks_ = tiles * parts_;
  }

  std::size_t tasks() const noexcept { return tasks_; }
  /// The number of parts of each row.
  std::size_t parts() const noexcept { return parts_; }
  std::size_t length() const noexcept { return length_; }
  std::size_t rows_in_tile() const noexcept { return rows_in_tile_; }
  const array_axis& across() const noexcept { return across_; }

  /// The tasks tile * parts() + part follow each other for the parts of a tile.
  row_tile task(std::size_t i) const {
    const std::size_t part = i % parts_, tile = i / parts_;
    const std::size_t first_row = tile % tiles_across_ * rows_in_tile_;
    const axis_walk where(outer(), tile / tiles_across_);
    row_tile found{axis_walk({outer_places_.data(), outer_count_}, tile / tiles_across_).here()};
    const auto steps = static_cast<std::ptrdiff_t>(first_row);
    for (std::size_t a = 0; a < most_inputs; ++a) found.base.of_input[a] += steps * across_.stride[a];
    found.base.of_mask += steps * across_.mask_stride;
    found.rows = std::min(rows_in_tile_, across_.count - first_row);
    found.first_result = static_cast<std::size_t>(where.here().of_mask) + first_row * across_result_;
    found.result_distance = across_result_;
    found.begin = part * part_;
    found.count = std::min(part_, length_ - found.begin);
    return found;
  }

 private:
  std::span<const array_axis> outer() const { return {outer_.data(), outer_count_}; }

  /// Takes the kept axis on which elements are neighbours, or without one that on which they are closest together, as
  /// that across tiles. In the others, `outer_` has the stride of the results in place of the mask's.
  void take_axes(const batch& many) {
    const auto kept = kept_axes(many);
    const auto distance = [&](std::size_t a) {
      const std::ptrdiff_t stride = kept[a].stride[0];
      return stride == 1 ? 0 : std::abs(stride) + 1;
    };
    std::size_t best = kept.size();
    for (std::size_t a = kept.size(); a-- > 0;) {
      if (best == kept.size() || distance(a) < distance(best)) best = a;
    }
    std::size_t results = 1;
    std::array<std::size_t, most_axes> of_result{};
    for (std::size_t a = kept.size(); a-- > 0;) {
      of_result[a] = results;
      results *= kept[a].count;
    }
    for (std::size_t a = 0; a < kept.size(); ++a) {
      if (a == best) {
        across_ = kept[a];
        across_result_ = of_result[a];
      } else {
        outer_places_[outer_count_] = kept[a];
        outer_[outer_count_] = kept[a];
        outer_[outer_count_++].mask_stride = static_cast<std::ptrdiff_t>(of_result[a]);
      }
    }
  }

  std::size_t length_;
  array_axis across_;
  std::size_t across_result_ = 0;
  std::array<array_axis, most_axes> outer_{}, outer_places_{};
  std::size_t outer_count_ = 0;
  std::size_t rows_in_tile_ = 1, tiles_across_ = 1, part_ = 1, parts_ = 1, tasks_ = 1;
};

/// Merges the parts of a tile into the first one, along the binary tree over their numbers.
template <class Merge>
void merge_parts(std::size_t parts, const Merge& merge) {
  for (std::size_t step = 1; step < parts; step *= 2) {
    for (std::size_t p = 0; p + step < parts; p += 2 * step) merge(p, p + step);
  }
}

}  // namespace fanin::cpu
