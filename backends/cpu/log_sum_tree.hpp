// SPDX-License-Identifier: Apache-2.0
// The tree of the leaves of log_sum_exp in the fixed order.
#pragma once

#include <bit>
#include <cstddef>

#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {

/// Folds each leaf by fold_leaf(x, count, row), and merges their rows. Inlined, the function would be compiled up to
/// ten times.
template <class T, class Row, class FoldLeaf>
[[gnu::noinline]] void fold_log_sum_tree(const T* x, std::size_t count, Row& out, const FoldLeaf& fold_leaf) {
  constexpr std::size_t leaf = Row::row_width * detail::rows_in_leaf;
  if (count <= leaf) return fold_leaf(x, count, out);
  const std::size_t left = leaf * std::bit_floor((count - 1) / leaf);
  Row right;
  fold_log_sum_tree(x, left, out, fold_leaf);
  fold_log_sum_tree(x + left, count - left, right, fold_leaf);
  out.merge(right);
}

}  // namespace fanin::cpu
