// SPDX-License-Identifier: Apache-2.0
// Rows whose first elements are neighbours, and all other elements likewise: sums of integers, counts and extrema of
// words side by side, without a copy.
#pragma once

#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/batch/tiles.hpp"
#include "backends/cpu/batch/word_plan.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

class word_columns {
 public:
  /// The plan for the rows of the batch, if they are such, without absent elements and along one axis, and if there
  /// are loops for the operation that are faster than others.
  static std::optional<word_plan> plan_of(const batch& many, const batch_results& results);

  word_columns(const batch& many, batch_results& results, const word_plan& plan, const tile_cut& cut);

  const row_tiles& tiles() const noexcept { return tiles_; }
  struct workspace {
    state_memory states, wide;
  };
  void fold(std::size_t task, workspace& with);
  void merge(std::size_t tile);

 private:
  /// The wide numbers of a tile.
  std::size_t wide_of_tile() const noexcept { return tiles_.rows_in_tile() * plan_.outputs(); }

  const batch& many_;
  batch_results& results_;
  word_plan plan_;
  row_tiles tiles_;
  state_memory partial_memory_;
  std::uint64_t* partials_ = nullptr;
};

}  // namespace fanin::cpu
