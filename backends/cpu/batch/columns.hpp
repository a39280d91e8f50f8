// SPDX-License-Identifier: Apache-2.0
// Rows that are columns in memory: neighbours are folded side by side, each in the order of a contiguous row.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/catalog.hpp>

namespace fanin::cpu {

/// The arithmetic of a recipe for up to `width` columns side by side. A state has `lanes` lanes of each of them, of
/// which only the first `used` take elements of columns that have no more.
struct column_arithmetic {
  std::size_t width, lanes;
  std::size_t leaf;  ///< the elements of a column that one call of fold() adds at most
  std::size_t state_bytes;
  /// Overwrites the state with `count` elements of each column, `along` elements apart.
  void (*fold)(const void* x, std::ptrdiff_t along, std::size_t columns, std::size_t count, std::size_t used,
               void* state);
  void (*merge)(void* into, const void* from, std::size_t columns, std::size_t used);
  /// Merges the lanes.
  void (*collapse)(void* state, std::size_t columns, std::size_t used);
  /// Writes the value of a column after collapse(). @throws overflow
  void (*finish)(const void* state, std::size_t column, std::uint64_t count, element_type result, void* out);
};

/// The arithmetic for a request, or null where columns are copied to rows: of large states, two inputs, and some
/// types.
const column_arithmetic* find_column_arithmetic(operation what, element_type type, method how);

}  // namespace fanin::cpu
