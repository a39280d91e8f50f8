// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/strided_rows.hpp"

#include "backends/cpu/batch/copied_rows.hpp"
#include "backends/cpu/batch/exact_columns.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/side_by_side.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cpu {
namespace {

template <class Rows>
void fold_tiles(const cpu_backend& backend, batch_results& results, unsigned threads, std::size_t bytes, Rows rows) {
  const row_tiles& tiles = rows.tiles();
  const std::size_t task_bytes = bytes / tiles.tasks() + 1;
  run_in_shares(
      backend, threads, tiles.tasks(), [&](std::size_t i) { return i * task_bytes; },
      [&](std::size_t first, std::size_t last) {
        typename Rows::workspace with;
        for (std::size_t i = first; i < last; ++i) {
          try {
            rows.fold(i, with);
          } catch (...) {
            results.fail(tiles.task(i).first_result);
          }
        }
      });
  if (tiles.parts() == 1) return;
  for (std::size_t tile = 0; tile * tiles.parts() < tiles.tasks(); ++tile) rows.merge(tile);
}

}  // namespace

std::uint64_t reduce_strided_rows(const cpu_backend& backend, batch_results& results, const request& request,
                                  const batch& many) {
  const std::size_t length = places(reduced_axes(many));
  const unsigned threads = std::min(request.threads, most_threads);
  const std::size_t bytes = many.result_count * (length * results.loops().element_bytes + bytes_for_result);
  const bool may_split = threads > 1 && bytes >= parallel_bytes;
  const recipe_functions& recipe = *find_functions(request.what, request.inputs.type(), request.method);
  if (const auto window = exact_columns::window_of(many, results, request)) {
    fold_tiles(backend, results, threads, bytes, exact_columns(many, results, request, *window, threads, may_split));
  } else if (recipe.columns != nullptr && !request.adds && rows_side_by_side::serves(many, results)) {
    fold_tiles(backend, results, threads, bytes,
               rows_side_by_side(many, results, request, *recipe.columns, threads, may_split));
  } else {
    fold_tiles(backend, results, threads, bytes, copied_rows(many, results, threads, may_split));
  }
  return length;
}

}  // namespace fanin::cpu
