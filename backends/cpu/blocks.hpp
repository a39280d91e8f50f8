// SPDX-License-Identifier: Apache-2.0
// Folding elements block by block, where each block is written anew before it is folded: as floats, or with
// stand-ins.
#pragma once

#include <bit>

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// Folds the elements begin, ..., begin + count - 1 in the fixed order into `state`. `block` is the size of the
/// blocks, in elements, and a power of two of leaves. fold_block(begin, count, state) overwrites its state. Memory:
/// up to 48 states of stack.
template <class FoldBlock>
void fold_blocks_in_order(const arithmetic& f, std::size_t block, std::size_t begin, std::size_t count, void* state,
                          const FoldBlock& fold_block) {
  if (count <= block) return fold_block(begin, count, state);
  const std::size_t left = block * std::bit_floor((count - 1) / block);
  state_buffer right;
  fold_blocks_in_order(f, block, begin, left, state, fold_block);
  fold_blocks_in_order(f, block, begin + left, count - left, right.bytes, fold_block);
  f.merge(state, right.bytes);
}

/// The operands from their element `count` on.
inline operands operands_from(const operands& data, std::size_t count, std::size_t element_bytes) {
  const auto at = [&](const void* x) -> const void* {
    return x == nullptr ? nullptr : static_cast<const std::byte*>(x) + count * element_bytes;
  };
  return {at(data.x), at(data.y), data.first + count};
}

}  // namespace fanin::cpu
