// SPDX-License-Identifier: Apache-2.0
// Copies elements that are apart, so that the elements of a row are contiguous.
#pragma once

#include <cstddef>

namespace fanin::cpu {

/// Elements of several rows: `count` of each, `along` elements apart, and the rows' first ones `across` elements
/// apart.
struct tile {
  const std::byte* from;
  std::size_t element_bytes;
  std::ptrdiff_t along, across;
  std::size_t count, rows;
};

/// Writes row r of the tile to the elements from r * distance on.
void copy_tile(const tile& elements, std::byte* to, std::size_t distance);

}  // namespace fanin::cpu
