// SPDX-License-Identifier: Apache-2.0
// Rows whose first elements are neighbours, and all other elements likewise: folded side by side, without a copy.
#pragma once

#include "backends/cpu/batch/columns.hpp"
#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/batch/tiles.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

class rows_side_by_side {
 public:
  /// Whether the rows of the batch are such: without absent elements, along one axis.
  static bool serves(const batch& many, const batch_results& results);

  rows_side_by_side(const batch& many, batch_results& results, const request& request,
                    const column_functions& columns, const tile_cut& cut);

  const row_tiles& tiles() const noexcept { return tiles_; }
  struct workspace {
    state_memory states, wide;
  };
  void fold(std::size_t task, workspace& with);
  void merge(std::size_t tile);

 private:
  /// Calls f(x, along, first, n) for blocks of `count` elements of each column at x. Narrow floats are widened.
  template <class F>
  void for_each_block(const row_tile& tile, const std::byte* x, std::size_t count, workspace& with, const F& f) const;
  void fold_range(const row_tile& tile, const std::byte* x, std::size_t count, std::byte* states,
                  workspace& with) const;
  void finish(const row_tile& tile, const std::byte* state);

  const batch& many_;
  batch_results& results_;
  const column_functions& columns_;
  const column_loops& loops_;
  row_tiles tiles_;
  element_type type_, result_;
  std::ptrdiff_t along_;  ///< from an element of a row to the next
  std::size_t used_;      ///< states of a column that take elements
  state_memory partial_memory_;
  std::byte* partials_ = nullptr;
};

}  // namespace fanin::cpu
