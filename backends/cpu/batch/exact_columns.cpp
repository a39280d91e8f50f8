// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/exact_columns.hpp"

#include <algorithm>

#include "backends/cpu/batch/exact_split.hpp"

namespace fanin::cpu {
namespace {

/// A part of a tile has so many rows that merging and rounding its sums takes little of the time.
constexpr std::size_t rows_in_part = 1024;
/// Shorter columns are copied: to add up and round the words of a column takes longer than to copy its elements.
constexpr std::size_t shortest = 32;

}  // namespace

std::optional<exact_window> exact_columns::window_of(const batch& many, const batch_results& results,
                                                     const request& request) {
  if (!exact_terms_of(request) || results.partial() || many.reduced != 1) return {};
  const std::size_t length = reduced_axes(many)[0].count, count = length * many.result_count;
  if (length < std::max<std::size_t>(results.least(), shortest)) return {};
  if (kept_axes(many).empty() || kept_axes(many).back().stride[0] != 1) return {};
  const array_view& x = many.inputs[0];
  const auto bytes = static_cast<std::ptrdiff_t>(byte_size(x.type));
  const auto sample = sample_of(count, x.type, [&](std::size_t i) {
    const axis_walk walk({many.axes.data(), many.kept + many.reduced}, i);
    return static_cast<const std::byte*>(x.data) + walk.here().of_input[0] * bytes;
  });
  return window_for(request, sample, length, true);
}

exact_columns::exact_columns(const batch& many, batch_results& results, const request& request,
                             const exact_window& window, const tile_cut& cut)
    : many_(many),
      results_(results),
      request_(request),
      window_(window),
      tiles_(many, columns_together, rows_in_part, cut),
      parts_(tiles_.parts() == 1 ? 0 : tiles_.tasks()) {}

void exact_columns::fold(std::size_t task, workspace&) {
  const row_tile tile = tiles_.task(task);
  const std::ptrdiff_t along = reduced_axes(many_)[0].stride[0];
  const auto first = tile.base.of_input[0] + static_cast<std::ptrdiff_t>(tile.begin) * along;
  const auto* const x = static_cast<const std::byte*>(many_.inputs[0].data) +
                        first * static_cast<std::ptrdiff_t>(byte_size(many_.inputs.type()));
  auto states = make_exact_states(request_, window_);
  states->begin(tile.rows);
  states->add_rows(x, along, tile.count, tile.rows);
  if (tiles_.parts() == 1) {
    states->finish(results_, tile.first_result, 0, tile.rows, {});
  } else {
    parts_[task] = std::move(states);
  }
}

void exact_columns::merge(std::size_t tile) {
  const std::size_t first = tile * tiles_.parts();
  const row_tile rows = tiles_.task(first);
  parts_[first]->finish(results_, rows.first_result, 0, rows.rows,
                        std::span(parts_).subspan(first + 1, tiles_.parts() - 1));
}

}  // namespace fanin::cpu
