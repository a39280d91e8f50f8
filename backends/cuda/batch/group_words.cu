// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/group_words.hpp"

#include <algorithm>
#include <limits>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/batch/group_words.cuh"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/runtime/shared_memory.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {

/// Arrays in device memory of a call. The first `cleared_bytes` bytes from `rows` on are to be 0.
struct group_words::memory {
  table_rows rows;
  std::byte* states;
  std::uint64_t* present;
  std::size_t cleared_bytes;
};

group_words::memory group_words::take_from(scratch_pieces& scratch) const {
  const std::size_t groups = groups_.result_count, of_row = groups * sizeof(std::uint64_t);
  const table_plan plan = plan_of(row_of(request_.what), request_.inputs.type(), request_.adds);
  const unsigned rows = plan.rows + (plan.counted ? 1u : 0u);
  auto* const first = scratch.take<unsigned long long>(rows * of_row);
  memory taken{};
  taken.rows = {first, plan.counted ? first + plan.rows * groups : nullptr, static_cast<std::uint32_t>(groups)};
  taken.cleared_bytes = rows * of_row;
  taken.states = scratch.take<std::byte>(groups * state_bytes_);
  taken.present = scratch.take<std::uint64_t>(of_row);
  return taken;
}

bool group_words::serve(const request& request, const batch& groups, const execution& where) {
  const operation_row& row = row_of(request.what);
  const element_type type = request.inputs.type();
  if (is_partial(groups.inputs, request.nan) || groups.inputs.size() != 1 || is_complex(type)) return false;
  const bool is_sum = row.adds == summand::elements || row.adds == summand::magnitudes;
  const bool has_squares = row.adds == summand::squares || row.adds == summand::deviations;
  if (!row.unrounded && !(is_integer(type) && (is_sum || has_squares))) return false;
  // Places have 32 bits.
  if (groups.inputs.count() >= std::numeric_limits<std::uint32_t>::max()) return false;
  constexpr std::size_t least_static_bytes = 1 << 10;
  return table_bytes(plan_of(row, type, request.adds)) * groups.result_count + least_static_bytes <=
         most_shared_bytes(where.device);
}

std::size_t group_words::scratch_bytes() const {
  scratch_pieces none;
  take_from(none);
  return none.taken_bytes();
}

void group_words::enqueue(scratch_pieces& scratch, const execution& where, const batch_output& out) const {
  constexpr std::size_t most_copied_bytes = 1 << 15;
  const operation_row& row = row_of(request_.what);
  const element_type type = groups_.inputs.type();
  const table_plan plan = plan_of(row, type, request_.adds);
  const memory to = take_from(scratch);
  check(cudaMemsetAsync(to.rows.words, 0, to.cleared_bytes, where.stream), "cudaMemsetAsync");
  const keyed_words from = words_of(groups_, out.status);
  group_rows rows{to.rows, plan.table_rows, 0, term_of(row), rule_of(request_.what, type)};
  std::size_t bytes = table_bytes(plan) * groups_.result_count;
  if (plan.form == group_form::sums) {
    while (rows.copies_log2 < 5 && 2 * bytes <= most_copied_bytes) ++rows.copies_log2, bytes *= 2;
  }
  constexpr int threads = tuning::word_threads;
  const unsigned at_once = 2 * bytes <= most_shared_bytes(where.device) ? 2 : 1;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(
      at_once * static_cast<unsigned>(where.multiprocessors), from.count / (threads * 4) + 1));
  run_folds(plan, from, rows, [&]<class... Fold>(const keyed_words& elements, const group_rows& sums) {
    allow_shared(fold_groups<Fold...>, bytes);
    launch_overlapped(where, blocks, threads, bytes, fold_groups<Fold...>, elements, sums);
  });
  const group_states states{to.states,       to.present, plan.form, static_cast<unsigned>(state_bytes_),
                            from.word_bytes, plan.sums};
  launch_overlapped(where, blocks_for(where, to.rows.groups / threads + 1), threads, 0, write_group_states, rows,
                    states);

  batch_elements all{};
  all.kind = layout::rows;
  all.chunks = 1;
  all.results = groups_.result_count;
  batch_output finished = out;
  finished.states = to.states;
  finished.present = to.present;
  enqueue_finish_each(request_, request_, all, finished, where);
}

}  // namespace fanin::cuda
