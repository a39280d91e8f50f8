// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/side_by_side.hpp"

#include <algorithm>
#include <bit>

#include "backends/cpu/leaf.hpp"

namespace fanin::cpu {
namespace {

/// Narrow columns that are widened together. Their floats, and the states, stay in an L2 cache.
constexpr std::size_t widened_columns = 256, widened_elements = 32768;

std::size_t columns_in_tile(const column_loops& loops, element_type type) {
  return is_widened(type) && !loops.reads_leaves ? std::min(widened_columns, loops.width) : loops.width;
}

}  // namespace

bool rows_side_by_side::serves(const batch& many, const batch_results& results) {
  if (results.partial() || many.reduced != 1) return false;
  const auto kept = kept_axes(many);
  return reduced_axes(many)[0].count >= results.least() &&
         std::any_of(kept.begin(), kept.end(), [](const array_axis& axis) { return axis.stride[0] == 1; });
}

rows_side_by_side::rows_side_by_side(const batch& many, batch_results& results, const request& request,
                                     const column_functions& columns, const tile_cut& cut)
    : many_(many),
      results_(results),
      columns_(columns),
      loops_(columns.loops(request.inputs.type())),
      tiles_(many, columns_in_tile(loops_, request.inputs.type()), columns.leaf, cut),
      type_(request.inputs.type()),
      result_(request.result),
      along_(reduced_axes(many)[0].stride[0]),
      used_(std::min(loops_.row_width, tiles_.length())) {
  if (tiles_.parts() > 1) partials_ = partial_memory_.get(tiles_.tasks() * loops_.state_bytes);
}

template <class F>
void rows_side_by_side::for_each_block(const row_tile& tile, const std::byte* x, std::size_t count, workspace& with,
                                       const F& f) const {
  if (!is_widened(type_) || loops_.reads_leaves) return f(x, along_, 0, count);
  const std::size_t at_once =
      std::max<std::size_t>(1, widened_elements / tile.rows / loops_.row_width) * loops_.row_width;
  auto* const wide = reinterpret_cast<float*>(with.wide.get(std::min(count, at_once) * tile.rows * sizeof(float)));
  const std::ptrdiff_t along_bytes = along_ * static_cast<std::ptrdiff_t>(byte_size(type_));
  for (std::size_t first = 0; first < count; first += at_once) {
    const std::size_t n = std::min(at_once, count - first);
    widen_rows(x + static_cast<std::ptrdiff_t>(first) * along_bytes, along_, n, tile.rows, type_, wide);
    f(wide, static_cast<std::ptrdiff_t>(tile.rows), first, n);
  }
}

/// Folds in the fixed order; `states` has room for one more state than there are levels of leaves.
void rows_side_by_side::fold_range(const row_tile& tile, const std::byte* x, std::size_t count, std::byte* states,
                                   workspace& with) const {
  if (count <= columns_.leaf) {
    return for_each_block(tile, x, count, with,
                          [&](const void* block, std::ptrdiff_t along, std::size_t first, std::size_t n) {
                            loops_.fold(block, along, tile.rows, first, n, used_, states);
                          });
  }
  const std::size_t left = columns_.leaf * std::bit_floor((count - 1) / columns_.leaf);
  const auto bytes = static_cast<std::ptrdiff_t>(results_.loops().element_bytes);
  std::byte* const right = states + loops_.state_bytes;
  fold_range(tile, x, left, states, with);
  fold_range(tile, x + static_cast<std::ptrdiff_t>(left) * along_ * bytes, count - left, right, with);
  loops_.merge(states, right, tile.rows, used_);
}

void rows_side_by_side::finish(const row_tile& tile, const std::byte* state) {
  const auto write = [&](std::size_t first, std::size_t last) {
    columns_.finish(state, tile.rows, first, last, tiles_.length(), result_, results_.at(tile.first_result),
                    tile.result_distance);
  };
  try {
    return write(0, tile.rows);
  } catch (...) {  // The values that exist are written nevertheless.
  }
  for (std::size_t r = 0; r < tile.rows; ++r) {
    try {
      write(r, r + 1);
    } catch (...) {
      results_.fail(tile.first_result + r * tile.result_distance);
    }
  }
}

void rows_side_by_side::fold(std::size_t task, workspace& with) {
  const row_tile tile = tiles_.task(task);
  const auto bytes = static_cast<std::ptrdiff_t>(results_.loops().element_bytes);
  const std::ptrdiff_t first = tile.base.of_input[0] + static_cast<std::ptrdiff_t>(tile.begin) * along_;
  const auto levels = static_cast<std::size_t>(std::bit_width(tile.count / columns_.leaf)) + 2;
  const auto* const x = static_cast<const std::byte*>(many_.inputs[0].data) + first * bytes;
  std::byte* const states = with.states.get(levels * loops_.state_bytes);
  if (loops_.fold_short != nullptr && tiles_.length() <= loops_.row_width) {
    for_each_block(tile, x, tile.count, with,
                   [&](const void* block, std::ptrdiff_t along, std::size_t, std::size_t n) {
                     loops_.fold_short(block, along, tile.rows, n, states);
                   });
    return finish(tile, states);
  }
  fold_range(tile, x, tile.count, states, with);
  if (tiles_.parts() == 1) {
    loops_.collapse(states, tile.rows, used_);
    finish(tile, states);
  } else {
    std::copy_n(states, loops_.state_bytes, partials_ + task * loops_.state_bytes);
  }
}

void rows_side_by_side::merge(std::size_t tile) {
  const std::size_t first = tile * tiles_.parts();
  const row_tile rows = tiles_.task(first);
  const auto partial = [&](std::size_t part) { return partials_ + (first + part) * loops_.state_bytes; };
  merge_parts(tiles_.parts(), [&](std::size_t into, std::size_t from) {
    loops_.merge(partial(into), partial(from), rows.rows, used_);
  });
  loops_.collapse(partial(0), rows.rows, used_);
  finish(rows, partial(0));
}

}  // namespace fanin::cpu
