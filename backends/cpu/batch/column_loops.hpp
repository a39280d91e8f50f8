// SPDX-License-Identifier: Apache-2.0
// The loops over columns side by side: of any accumulator in column_functions.hpp, and of some for each instruction
// set in column_loops.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fanin/catalog.hpp>

namespace fanin::cpu {

/// The loops of an accumulator for up to `width` columns side by side. `row_width` states of each column are formed,
/// as a row has them (fanin/loop.hpp). If columns have only `used` elements, only the first `used` states take
/// elements.
struct column_loops {
  std::size_t width, row_width;
  std::size_t state_bytes;
  /// Adds the elements first, ..., first + count - 1 of a leaf of each column. They are `along` elements apart.
  /// `first` is a multiple of `row_width`. If it is 0, the state is overwritten.
  void (*fold)(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t first, std::size_t count,
               std::size_t used, void* state);
  void (*merge)(void* into, const void* from, std::size_t columns, std::size_t used);
  /// Merges the states of each column.
  void (*collapse)(void* state, std::size_t columns, std::size_t used);
  /// Does what fold() and then collapse() do, for columns of at most `row_width` elements. If it is null, these two
  /// are called.
  void (*fold_short)(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t count, void* state);
  /// fold() reads whole leaves of the elements as they are. Otherwise it reads narrow floats as floats, in blocks.
  bool reads_leaves = false;
};

/// All states of a tile stay in an L2 cache, and states j of its columns in an L1 cache.
constexpr std::size_t columns_in_tile(std::size_t row_width, std::size_t state_bytes) {
  constexpr std::size_t tile_bytes = 262144, bytes_of_states_j = 16384;
  return std::min(tile_bytes / row_width, bytes_of_states_j) / state_bytes;
}

/// The accumulators of floats and doubles whose column loops are written for each instruction set.
enum class column_kernel {
  sum,
  compensated_sum,
  magnitude_sum,
  square_sum,
  product,
  moments,
  smallest,
  largest,
  extrema
};

/// The distance between planes, in numbers of `bytes`: a plane has one number of state j of each column. The planes
/// of states j follow each other, and then come the planes of states j + 1.
constexpr std::size_t plane_distance(std::size_t columns, std::size_t bytes) {
  const std::size_t line = 64 / bytes;
  return (columns + line - 1) / line * line;
}

/// The loops for the best instruction set of this machine, for elements of f64 or f32.
const column_loops& find_column_loops(column_kernel kernel, bool of_doubles);

}  // namespace fanin::cpu
