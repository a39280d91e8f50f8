// SPDX-License-Identifier: Apache-2.0
// Rows whose elements lie apart: rows that are neighbours in memory are copied together, piece by piece, and each
// piece is folded while it is in the cache.
#pragma once

#include <vector>

#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/batch/tiles.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {

class copied_rows {
 public:
  copied_rows(const batch& many, batch_results& results, const tile_cut& cut);

  const row_tiles& tiles() const noexcept { return tiles_; }
  /// The memory that a thread needs.
  struct workspace {
    state_memory copies, states, masks;
    std::vector<partial_tree> trees;
  };
  /// Writes the results of a tile, or if tiles have several parts, the states of one.
  void fold(std::size_t task, workspace& with);
  /// Writes the results of a tile from the states of its parts.
  void merge(std::size_t tile);

 private:
  std::byte* partial(std::size_t task, std::size_t row) const {
    return partials_ + (task * tiles_.rows_in_tile() + row) * state_stride(loops_);
  }
  std::uint64_t& present(std::size_t task, std::size_t row) { return present_[task * tiles_.rows_in_tile() + row]; }
  std::uint64_t fold_piece(const operands& data, std::size_t n, const mask_view& mask, std::byte* total,
                           partial_tree* tree) const;
  void copy(const row_tile& tile, std::size_t first, std::size_t count, int input, std::byte* to) const;
  void copy_mask(const row_tile& tile, std::size_t first, std::size_t count, std::byte* to) const;
  template <class F>
  void for_each_run(std::size_t first, std::size_t count, const F& f) const;

  const batch& many_;
  batch_results& results_;
  const arithmetic& loops_;
  std::size_t piece_, distance_;  ///< elements in a piece, and between the copies of two rows
  row_tiles tiles_;
  state_memory partial_memory_;
  std::byte* partials_ = nullptr;
  std::vector<std::uint64_t> present_;
};

}  // namespace fanin::cpu
