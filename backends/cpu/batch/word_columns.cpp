// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/word_columns.hpp"

#include <algorithm>
#include <cstdlib>

#include "backends/cpu/batch/word_results.hpp"

namespace fanin::cpu {
namespace {

/// The bytes of a row of a tile. Rows are read in pieces of this size.
constexpr std::size_t word_row_bytes = 16384;
/// A part of a tile has so many rows that merging and finishing its states takes little of the time.
constexpr std::size_t word_rows_in_part = 256;
/// Longer columns are copied. Wide numbers hold so many rows of words of 32 bits.
constexpr std::size_t most_word_rows = std::size_t{1} << 31;
/// The steps of a plan take turns with so many bytes, which stay in an L2 cache.
constexpr std::size_t bytes_in_turn = 131072;

std::size_t state_bytes_of(const word_plan& plan, std::size_t columns) {
  std::size_t bytes = 0;
  for (const word_plan::step& step : plan.all()) bytes += step.loops->state_bytes(columns);
  return bytes;
}

/// Folds rows of columns into `wide`. The rows begin at x, and their places at `first`.
void fold_rows(const word_plan& plan, const std::byte* x, std::ptrdiff_t along, std::size_t first, std::size_t rows,
               std::size_t columns, std::byte* states, std::uint64_t* wide) {
  const std::size_t bytes = byte_size(plan.type);
  const std::size_t in_turn = plan.count == 1 ? rows : std::max<std::size_t>(8, bytes_in_turn / (columns * bytes));
  std::size_t begins[2] = {0, 0};  // the first row that the small states of a step have
  for (std::size_t begin = 0, n; begin < rows; begin += n) {
    n = std::min(in_turn, rows - begin);
    for (const word_plan::step& step : plan.all()) n = std::min(n, step.loops->most_rows);
    std::byte* state = states;
    std::uint64_t* to = wide;
    for (std::size_t i = 0; i < plan.count; ++i) {
      const auto& [kernel, rule, loops] = plan.steps[i];
      if (begin == 0) loops->reset(state, columns, to);
      loops->fold(rule, x + static_cast<std::ptrdiff_t>(begin * bytes) * along, along, n, columns, begin - begins[i],
                  state);
      const std::size_t end = begin + n;
      if (end == rows || end - begins[i] + n > loops->most_rows) {
        loops->flush(state, columns, first + begins[i], to);
        begins[i] = end;
      }
      state += loops->state_bytes(columns);
      to += columns * loops->outputs;
    }
  }
}

/// Small states of bytes are soon full. If they have fewer columns, the blocks that fill them are short, and to copy
/// the columns is faster.
std::size_t least_columns(const word_plan& plan) {
  const auto& [kernel, rule, loops] = plan.steps[0];
  const bool are_soon_full = byte_size(plan.type) == 1 && kernel != word_kernel::extrema;
  return std::max<std::size_t>(loops->vector_columns, are_soon_full ? 128 : 1);
}

/// Extrema of f32 and f64 have loops of their own, which are faster for far rows, and for columns whose end takes
/// much of the time.
bool is_left_to_floats(const word_plan& plan, const array_axis& rows) {
  const std::size_t bytes = byte_size(plan.type);
  if (plan.steps[0].kernel != word_kernel::extrema || !is_floating(plan.type) || bytes < sizeof(float)) return false;
  return rows.count < word_rows_in_part || static_cast<std::size_t>(std::abs(rows.stride[0])) * bytes >= far_bytes;
}

}  // namespace

std::optional<word_plan> word_columns::plan_of(const batch& many, const batch_results& results) {
  if (results.partial() || many.reduced != 1 || many.kept == 0) return {};
  const std::size_t length = reduced_axes(many)[0].count;
  if (length < std::max<std::size_t>(results.least(), 1) || length > most_word_rows) return {};
  // Tiles are cut along this axis: the last one on which elements are neighbours.
  const auto kept = kept_axes(many);
  const auto across =
      std::find_if(kept.rbegin(), kept.rend(), [](const array_axis& axis) { return axis.stride[0] == 1; });
  if (across == kept.rend()) return {};
  const auto plan = word_plan_for(results.asked());
  if (!plan || across->count < least_columns(*plan) || is_left_to_floats(*plan, reduced_axes(many)[0])) return {};
  return plan;
}

word_columns::word_columns(const batch& many, batch_results& results, const word_plan& plan, const tile_cut& cut)
    : many_(many),
      results_(results),
      plan_(plan),
      tiles_(many, word_row_bytes / byte_size(plan.type), word_rows_in_part, cut) {
  if (tiles_.parts() == 1) return;
  partials_ =
      reinterpret_cast<std::uint64_t*>(partial_memory_.get(tiles_.tasks() * wide_of_tile() * sizeof(std::uint64_t)));
}

void word_columns::fold(std::size_t task, workspace& with) {
  const row_tile tile = tiles_.task(task);
  const auto bytes = static_cast<std::ptrdiff_t>(byte_size(plan_.type));
  const std::ptrdiff_t along = reduced_axes(many_)[0].stride[0];
  const std::ptrdiff_t first = tile.base.of_input[0] + static_cast<std::ptrdiff_t>(tile.begin) * along;
  const auto* const x = static_cast<const std::byte*>(many_.inputs[0].data) + first * bytes;
  std::byte* const states = with.states.get(state_bytes_of(plan_, tile.rows));
  if (tiles_.parts() > 1) {
    return fold_rows(plan_, x, along, tile.begin, tile.count, tile.rows, states, partials_ + task * wide_of_tile());
  }
  auto* const wide = reinterpret_cast<std::uint64_t*>(with.wide.get(wide_of_tile() * sizeof(std::uint64_t)));
  fold_rows(plan_, x, along, tile.begin, tile.count, tile.rows, states, wide);
  finish_words(plan_, wide, tile.rows, tile.count, results_, tile.first_result, tile.result_distance);
}

void word_columns::merge(std::size_t tile) {
  const std::size_t first = tile * tiles_.parts();
  const row_tile rows = tiles_.task(first);
  std::uint64_t* const total = partials_ + first * wide_of_tile();
  for (std::size_t part = 1; part < tiles_.parts(); ++part) {
    std::uint64_t* const from = partials_ + (first + part) * wide_of_tile();
    std::size_t at = 0;
    for (const auto& [kernel, rule, loops] : plan_.all()) {
      loops->merge(total + at, from + at, rows.rows);
      at += rows.rows * loops->outputs;
    }
  }
  finish_words(plan_, total, rows.rows, tiles_.length(), results_, rows.first_result, rows.result_distance);
}

}  // namespace fanin::cpu
