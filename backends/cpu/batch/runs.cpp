// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/runs.hpp"

#include <bit>
#include <list>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/state_memory.hpp"

namespace fanin::cpu {
namespace {

void reduce_whole(const cpu_backend& backend, batch_results& results, unsigned threads, std::size_t i,
                  const operands& data, std::size_t count, const mask_view& mask) {
  const presence who{results.rule(), mask};
  state_memory memory;
  std::byte* const state = memory.get(results.loops().state_bytes);
  const std::uint64_t present =
      backend.fold_parallel(results.loops(), data, count, threads, state, results.partial() ? &who : nullptr);
  results.finish(i, count, present, state);
}

void reduce_in_pieces(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads,
                      std::size_t i, const operands& data, std::size_t count, const mask_view& mask) {
  struct fold {
    explicit fold(batch_results& of) : results(of), loops(of.loops()) {}
    batch_results& results;
    const arithmetic& loops;
    state_memory memory;
    std::byte* states = nullptr;
    std::atomic<std::uint64_t> present = 0;
    std::byte* state(std::size_t k) const { return states + k * state_stride(loops); }
  };
  struct job {
    const operands& data;
    std::size_t count;
    const mask_view& mask;
    std::size_t piece;
    std::list<fold> folds;
  } shared{data, count, mask, std::bit_floor(bytes_for_several / all[0]->loops().element_bytes), {}};
  const std::size_t pieces = (count + shared.piece - 1) / shared.piece;
  for (batch_results* const results : all) {
    fold& one = shared.folds.emplace_back(*results);
    one.states = one.memory.get((pieces + 1 + partial_tree::most_levels) * state_stride(one.loops));
  }
  const auto fold_piece = [](void* context, std::size_t k) {
    job& j = *static_cast<job*>(context);
    const detail::environment_guard guard;
    const std::size_t first = k * j.piece;
    for (fold& one : j.folds) {
      const presence who{one.results.rule(), j.mask};
      one.present += fold_one_part(one.loops, one.results.partial() ? &who : nullptr,
                                   operands_from(j.data, first, one.loops.element_bytes),
                                   std::min(j.piece, j.count - first), one.state(k));
    }
  };
  backend.run(startable_threads(std::min(threads, most_threads)), pieces, {fold_piece, &shared});
  for (fold& one : shared.folds) {
    std::byte* const total = one.state(pieces);
    one.loops.reset(total);
    partial_tree tree(one.loops, one.state(pieces + 1));
    for (std::size_t k = 0; k < pieces; ++k) {
      one.loops.in_leaves() ? tree.push(one.state(k)) : one.loops.merge(total, one.state(k));
    }
    if (one.loops.in_leaves()) tree.finish(total);
    one.results.finish(i, count, one.present, total);
  }
}

}  // namespace

void reduce_long(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads, std::size_t i,
                 const operands& data, std::size_t count, const mask_view& mask) {
  if (all.size() > 1) return reduce_in_pieces(backend, all, threads, i, data, count, mask);
  reduce_whole(backend, *all[0], threads, i, data, count, mask);
}

std::size_t longest_alone_of(std::span<batch_results* const> all, unsigned threads, std::size_t bytes) {
  if (all.size() > 1) return parallel_bytes;
  if (threads == 1 || all[0]->loops().one_by_one) return bytes;
  return std::max<std::size_t>(parallel_bytes, bytes / (std::size_t{4} * threads));
}

}  // namespace fanin::cpu
