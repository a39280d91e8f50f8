// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/scattered_rows.hpp"

#include <fanin/cuda/check.cuh>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/batch/scattered_rows.cuh"

namespace fanin::cuda {
namespace {

template <class A>
void launch(const scattered_lists& all, const execution& where) {
  constexpr std::uint64_t size = vector<typename A::element>::size, threads = tuning::scattered_threads;
  const std::uint64_t vectors = (all.columns + size - 1) / size, slabs = (vectors + threads - 1) / threads;
  const std::uint64_t width = (vectors + slabs - 1) / slabs, at_once = threads / width;
  const std::uint64_t tiles = scattered_tiles(all.count), stacks = (tiles + all.groups + at_once - 1) / at_once;
  add_rows_kernel<A><<<blocks_for(where, stacks * slabs), static_cast<unsigned>(width * at_once), 0, where.stream>>>(
      all, static_cast<unsigned>(width));
  if (all.count > tuning::scattered_tile) {
    const std::uint64_t of_tiles = (all.columns + tuning::merged_columns - 1) / tuning::merged_columns;
    merge_parts_kernel<A><<<blocks_for(where, (tiles + 31) / 32 * of_tiles), threads, 0, where.stream>>>(all);
  }
  check(cudaGetLastError(), "launching sums of scattered rows");
}

}  // namespace

void enqueue_scattered_rows(const scattered_rows& rows, context& context) {
  if (rows.columns == 0 || rows.groups == 0) return;
  const key_sort keys(rows.keys, rows.groups);
  const std::size_t parts_bytes = scattered_tiles(rows.keys.count) * rows.columns * sizeof(double_sum);
  scratch_pieces measured;
  keys.take_from(measured, true);
  measured.take<void>(parts_bytes);
  const execution where = context.with_scratch(measured.taken_bytes());
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));
  const key_sort::arrays sorted = keys.take_from(scratch, true);
  keys.enqueue(sorted, nullptr, true, where, reinterpret_cast<batch_status*>(context.batch_status_memory()));
  const auto is_aligned = [](const void* x) { return reinterpret_cast<std::uintptr_t>(x) % 16 == 0; };
  const bool has_vectors = rows.columns * byte_size(rows.type) % 16 == 0 && is_aligned(rows.x) &&
                           is_aligned(rows.base) && is_aligned(rows.out);
  const scattered_lists all{rows.x,
                            rows.base,
                            rows.out,
                            static_cast<const std::uint32_t*>(sorted.sorted_values),
                            sorted.sorted_keys,
                            sorted.offsets,
                            rows.keys.count,
                            rows.groups,
                            rows.columns,
                            has_vectors,
                            rule_of(operation::sum, rows.type),
                            scratch.take<void>(parts_bytes)};
  switch (byte_size(rows.type)) {
    case 2:
      return launch<scattered_sum<std::uint16_t>>(all, where);
    case 4:
      return launch<scattered_sum<std::uint32_t>>(all, where);
    default:
      return launch<scattered_sum<std::uint64_t>>(all, where);
  }
}

}  // namespace fanin::cuda
