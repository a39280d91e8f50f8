// SPDX-License-Identifier: Apache-2.0
// The loops of log_sum_exp over columns side by side, with the bits of contiguous rows.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "backends/cpu/batch/column_loops.hpp"
#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {

/// The states of up to `width` columns. Only the first `row_width` states of each column are used.
struct log_sum_states {
  static constexpr std::size_t most_states = 64, width = 256;
  bool plain;  ///< all references are 0, and `largest` is not set
  double largest[most_states][width], sum[most_states][width];
};

void fold_log_sum_columns(element_type type, const void* x, std::ptrdiff_t along, std::size_t columns,
                          std::size_t count, std::size_t used, log_sum_states& to);
void merge_log_sum_columns(void* into, const void* from, std::size_t columns, std::size_t used);
void collapse_log_sum_columns(void* states, std::size_t columns, std::size_t used);

/// The loops of column_loops.hpp. T is a double, an integer, which is added as a double, a float, or a narrow float,
/// which is added as a float.
template <class T>
struct log_sum_columns {
  using states = log_sum_states;
  static constexpr bool reads_leaves = true;
  static constexpr std::size_t width = states::width;
  static constexpr std::size_t row_width =
      log_sum_row<std::conditional_t<sizeof(T) == sizeof(double) || std::integral<T>, double, float>>::row_width;
  static void fold(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t, std::size_t count,
                   std::size_t used, void* to) {
    fold_log_sum_columns(type_of<T>, x, along, columns, count, used, *static_cast<states*>(to));
  }
  static constexpr auto merge = merge_log_sum_columns, collapse = collapse_log_sum_columns;
  static accumulator::scaled_sum state_of(const void* all, std::size_t column) {
    const auto& s = *static_cast<const states*>(all);
    return {s.plain ? 0 : s.largest[0][column], s.sum[0][column]};
  }
};

}  // namespace fanin::cpu
