// SPDX-License-Identifier: Apache-2.0
// Rows that are columns in memory: neighbours are folded side by side, each in the order of a contiguous row.
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cpu/batch/column_loops.hpp"

namespace fanin::cpu {

/// The arithmetic of a recipe for columns side by side.
struct column_functions {
  std::optional<column_kernel> kernel;  ///< the kernel that folds columns, if one does
  const column_loops* general;          ///< otherwise the loops that do
  std::size_t leaf;                     ///< the elements of a column that one call of fold() adds at most
  /// Writes the values of the columns first, ..., last - 1 of `columns` after collapse(), `distance` results apart.
  /// @throws overflow
  void (*finish)(const void* state, std::size_t columns, std::size_t first, std::size_t last, std::uint64_t count,
                 element_type result, void* out, std::size_t distance);

  /// `type`: the type of the elements. Narrow floats are folded as floats.
  const column_loops& loops(element_type type) const {
    return kernel ? find_column_loops(*kernel, type == element_type::f64) : *general;
  }
};

}  // namespace fanin::cpu
