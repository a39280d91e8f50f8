// SPDX-License-Identifier: Apache-2.0
// The arithmetic of each recipe for CPU backends, and the tree along which partials are merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fanin/loop.hpp>

namespace fanin::cpu {

using detail::arithmetic;
using detail::leaf_bytes;
using detail::operands;
using detail::row_bytes;

/// Room for the state of any recipe.
struct alignas(detail::state_alignment) state_buffer {
  std::byte bytes[2304];
};

/// The distance between two states in raw memory.
constexpr std::size_t state_stride(const arithmetic& arithmetic) {
  return (arithmetic.state_bytes + detail::state_alignment - 1) / detail::state_alignment * detail::state_alignment;
}

/// Partials of consecutive blocks, merged along the binary tree over the block index: node (k, i) is the merge of
/// (k-1, 2i) and (k-1, 2i+1), and a missing right child leaves the left one as it is. Blocks of 2^k leaves give the
/// same bits as the leaves themselves.
class partial_tree {
 public:
  static constexpr std::size_t most_levels = 48;
  /// `levels` has room for most_levels states, state_stride() apart and aligned to detail::state_alignment.
  partial_tree(const arithmetic& arithmetic, std::byte* levels) noexcept : arithmetic_(arithmetic), levels_(levels) {}
  /// Adds the next block's partial, which is in `state`, and overwrites `state`.
  void push(void* state);
  /// Writes the merge of all partials to `state`; leaves `state` unchanged if there are none.
  void finish(void* state);

 private:
  std::byte* level(std::size_t i) const noexcept { return levels_ + i * state_stride(arithmetic_); }

  const arithmetic& arithmetic_;
  std::byte* levels_;
  std::uint64_t pushed_ = 0;
};

}  // namespace fanin::cpu
