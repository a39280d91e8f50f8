// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/strided_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory_resource>
#include <optional>
#include <tuple>
#include <variant>

#include "backends/cpu/batch/copied_rows.hpp"
#include "backends/cpu/batch/exact_columns.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/side_by_side.hpp"
#include "backends/cpu/batch/word_columns.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cpu {
namespace {

/// The loop that folds the rows of one operation.
using rows_loop = std::variant<exact_columns, word_columns, rows_side_by_side, copied_rows>;
using workspaces = std::tuple<exact_columns::workspace, word_columns::workspace, rows_side_by_side::workspace,
                              copied_rows::workspace>;

const row_tiles& tiles_of(const rows_loop& rows) {
  return std::visit([](const auto& of) -> const row_tiles& { return of.tiles(); }, rows);
}

/// Adds the loop that serves the rows of one operation best.
void add_rows(std::pmr::list<rows_loop>& rows, batch_results& results, const batch& many, const tile_cut& cut) {
  const request& asked = results.asked();
  const recipe_functions& recipe = *find_functions(asked.what, asked.inputs.type(), asked.method);
  if (const auto window = exact_columns::window_of(many, results, asked)) {
    rows.emplace_back(std::in_place_type<exact_columns>, many, results, asked, *window, cut);
  } else if (const auto plan = word_columns::plan_of(many, results)) {
    rows.emplace_back(std::in_place_type<word_columns>, many, results, *plan, cut);
  } else if (recipe.columns != nullptr && !asked.adds && rows_side_by_side::serves(many, results)) {
    rows.emplace_back(std::in_place_type<rows_side_by_side>, many, results, asked, *recipe.columns, cut);
  } else {
    rows.emplace_back(std::in_place_type<copied_rows>, many, results, cut);
  }
}

/// Strips of rows that stay in a cache while one operation after the other folds a part of them. A part has whole
/// blocks of every operation whose order matters. Without a result if the places of a strip that are neighbours would
/// be so few that reading them one after another takes longer than to read all elements for each operation.
std::optional<tile_cut> cut_for_several(std::span<batch_results* const> all, const batch& many,
                                        std::size_t element_bytes) {
  constexpr std::size_t least_strip_bytes = 4096, least_block = 256;
  const row_tiles whole(many, ~std::size_t{0}, 1, {});
  const bool ordered = std::ranges::any_of(all, [](const auto* results) { return results->loops().in_leaves(); });
  const std::size_t block = ordered ? leaf_bytes / element_bytes : least_block;
  const std::size_t in_cache = bytes_for_several / element_bytes, across = whole.across().count;
  const std::size_t strip =
      std::min(std::bit_floor(in_cache / std::min(block, whole.length())), std::bit_ceil(across));
  if (strip < across && strip * element_bytes < least_strip_bytes) return std::nullopt;
  return tile_cut{.strip = strip, .part = block * std::bit_floor(std::max<std::size_t>(1, in_cache / block / strip))};
}

/// The tasks of rows that are cut into strips, and these into parts. A strip has whole tiles of every operation.
class strided_tasks {
 public:
  strided_tasks(std::span<batch_results* const> all, const batch& many, const tile_cut& cut) : all_(all) {
    for (batch_results* const results : all) add_rows(rows_, *results, many, cut);
    const row_tiles& first = tiles_of(rows_.front());
    strip_ = cut.strip > 0 ? cut.strip : first.rows_in_tile();
    parts_ = first.parts();
    strips_across_ = (first.across().count + strip_ - 1) / strip_;
    strips_ = first.tiles() / first.tiles_across() * strips_across_;
  }
  std::size_t size() const noexcept { return strips_ * parts_; }

  void fold(std::size_t task, workspaces& with) {
    const std::size_t strip = task / parts_, part = task % parts_;
    auto results = all_.begin();
    for (rows_loop& rows : rows_) {
      const row_tiles& tiles = tiles_of(rows);
      const std::size_t in_strip = (strip_ + tiles.rows_in_tile() - 1) / tiles.rows_in_tile();
      const std::size_t first = strip % strips_across_ * in_strip;
      const std::size_t end = std::min(first + in_strip, tiles.tiles_across());
      for (std::size_t t = first; t < end; ++t) {
        fold_tile(rows, **results, (strip / strips_across_ * tiles.tiles_across() + t) * parts_ + part, with);
      }
      ++results;
    }
  }

  /// Writes the results, if tiles have several parts.
  void merge() {
    if (parts_ == 1) return;
    for (rows_loop& rows : rows_) {
      for (std::size_t tile = 0; tile < tiles_of(rows).tiles(); ++tile) {
        std::visit([&](auto& of) { of.merge(tile); }, rows);
      }
    }
  }

 private:
  static void fold_tile(rows_loop& rows, batch_results& results, std::size_t task, workspaces& with) {
    try {
      std::visit([&]<class Rows>(Rows& of) { of.fold(task, std::get<typename Rows::workspace>(with)); }, rows);
    } catch (...) {
      results.fail(tiles_of(rows).task(task).first_result);
    }
  }

  std::span<batch_results* const> all_;
  // The rows of one operation need no memory from the heap.
  alignas(std::max_align_t) std::byte room_[sizeof(rows_loop) + 64];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  std::pmr::list<rows_loop> rows_{&memory_};
  std::size_t strip_, parts_, strips_across_, strips_;
};

}  // namespace

std::uint64_t reduce_strided_rows(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads,
                                  const batch& many) {
  const std::size_t length = places(reduced_axes(many)), element_bytes = all[0]->loops().element_bytes;
  threads = std::min(threads, most_threads);
  const std::size_t bytes = many.result_count * (length * element_bytes + bytes_for_result);
  constexpr std::size_t tasks_per_thread = 8;
  tile_cut cut;
  if (all.size() > 1) {
    const auto found = cut_for_several(all, many, element_bytes);
    if (!found) {
      for (const auto& one : all) reduce_strided_rows(backend, {&one, 1}, threads, many);
      return length;
    }
    cut = *found;
  } else if (threads > 1 && bytes >= parallel_bytes) {
    cut.tasks = tasks_per_thread * threads;
  }
  strided_tasks tasks(all, many, cut);
  const std::size_t task_bytes = bytes / tasks.size() + 1;
  run_in_shares(
      backend, threads, tasks.size(), [&](std::size_t i) { return i * task_bytes; },
      [&](std::size_t first, std::size_t last) {
        workspaces with;
        for (std::size_t i = first; i < last; ++i) tasks.fold(i, with);
      });
  tasks.merge();
  return length;
}

}  // namespace fanin::cpu
