// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows whose first elements are neighbours, and all other elements likewise: added side by side,
// without a copy.
#pragma once

#include "backends/cpu/batch/exact_states.hpp"
#include "backends/cpu/batch/tiles.hpp"

namespace fanin::cpu {

class exact_columns {
 public:
  /// The window for the rows of the batch, if they are such, without absent elements and along one axis, and if
  /// window_for() finds one.
  static std::optional<exact_window> window_of(const batch& many, const batch_results& results,
                                               const request& request);

  exact_columns(const batch& many, batch_results& results, const request& request, const exact_window& window,
                const tile_cut& cut);

  const row_tiles& tiles() const noexcept { return tiles_; }
  struct workspace {};
  void fold(std::size_t task, workspace& with);
  void merge(std::size_t tile);

 private:
  const batch& many_;
  batch_results& results_;
  const request& request_;
  exact_window window_;
  row_tiles tiles_;
  std::vector<std::unique_ptr<group_states>> parts_;  ///< the states of each task, if tiles have several parts
};

}  // namespace fanin::cpu
