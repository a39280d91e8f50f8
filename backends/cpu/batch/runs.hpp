// SPDX-License-Identifier: Apache-2.0
// Results of contiguous elements: which task folds which of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/environment.hpp>

#include "backends/cpu/batch/results.hpp"
#include "base/threads.hpp"

namespace fanin::cpu {

/// The cost of a result beyond its elements, as the number of bytes that could be read in the same time.
inline constexpr std::size_t bytes_for_result = 128;

/// Several operations fold elements of so many bytes before they go on: these stay in a cache.
inline constexpr std::size_t bytes_for_several = std::size_t{1} << 20;

/// Makes `most` at least `value`.
inline void raise(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  for (std::uint64_t known = most; known < value && !most.compare_exchange_weak(known, value);) {
  }
}

/// Folds result i of elements that are enough for threads of its own, by every operation. For several operations each
/// thread takes a piece of 2^k leaves, and folds it by one operation after the other.
void reduce_long(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads, std::size_t i,
                 const operands& data, std::size_t count, const mask_view& mask);

/// Runs tasks of about equal cost over results 0 .. count - 1. before(i) is the cost in bytes of the results below i,
/// and fold(first, last) folds a task's results.
template <class Before, class Fold>
void run_in_shares(const cpu_backend& backend, unsigned threads, std::size_t count, const Before& before,
                   const Fold& fold) {
  struct job {
    std::size_t count, tasks;
    const Before& before;
    const Fold& fold;
    /// The first result of task t, found by bisection.
    std::size_t first(std::size_t t) const {
      const auto wanted = static_cast<std::size_t>(static_cast<double>(before(count)) / static_cast<double>(tasks) *
                                                   static_cast<double>(t));
      std::size_t low = 0, high = count;
      while (low < high && t < tasks) {
        const std::size_t middle = low + (high - low) / 2;
        before(middle) < wanted ? low = middle + 1 : high = middle;
      }
      return high;
    }
  };
  constexpr std::size_t tasks_per_thread = 16;
  const std::size_t tasks =
      before(count) < parallel_bytes ? 1 : std::min<std::size_t>(threads * tasks_per_thread, count);
  if (threads == 1 || tasks <= 1) return fold(0, count);
  threads = startable_threads(std::min(threads, most_threads));
  job shared{count, tasks, before, fold};
  const auto run_share = [](void* context, std::size_t t) {
    const job& j = *static_cast<job*>(context);
    const detail::environment_guard guard;
    j.fold(j.first(t), j.first(t + 1));
  };
  backend.run(threads, tasks, {run_share, &shared});
}

/// Collects runs of neighbouring results, and folds many of them by one call.
class collected_runs {
 public:
  explicit collected_runs(batch_results& results) : results_(results) {}
  void add(std::size_t i, const operands& data, std::size_t count) {
    if (number_ == arithmetic::most_runs || i != first_ + number_) fold();
    if (number_ == 0) first_ = i;
    // A copy of all members loads 16 bytes at once, which waits until smaller stores of them are in the cache.
    runs_[number_].x = data.x;
    runs_[number_].y = data.y;
    runs_[number_].first = data.first;
    counts_[number_++] = count;
  }
  void fold() {
    if (number_ > 0) results_.reduce_each(first_, {runs_, number_}, counts_);
    number_ = 0;
  }

 private:
  batch_results& results_;
  std::size_t first_ = 0, number_ = 0;
  operands runs_[arithmetic::most_runs];
  std::size_t counts_[arithmetic::most_runs];
};

/// Up to most_runs neighbouring results, with the lengths of the shortest and the longest of their runs.
struct run_tile {
  template <class Runs>
  run_tile(const Runs& all, std::size_t first, std::size_t last) {
    all.each(first, last, [&](std::size_t i, const operands& data, std::size_t count, const mask_view&) {
      runs[i - first] = data;
      counts[i - first] = count;
      shortest = std::min(shortest, count);
      longest = std::max(longest, count);
    });
  }
  operands runs[arithmetic::most_runs];
  std::size_t counts[arithmetic::most_runs], shortest = ~std::size_t{0}, longest = 0;
};

/// The longest run, in bytes, that one thread folds. A run that would keep a thread busy when the others are done is
/// folded by all of them, after the short ones. A run that does not stay in a cache for several operations is folded
/// piece by piece.
std::size_t longest_alone_of(std::span<batch_results* const> all, unsigned threads, std::size_t bytes);

/// Folds each of runs.size() runs of contiguous elements to its result of each operation. runs.bytes_before(i) is the
/// size of all runs below i, and runs.each(first, last, f) calls f(i, operands, count, mask) for its runs. Returns
/// the length of the longest run.
template <class Runs>
std::uint64_t reduce_runs(const cpu_backend& backend, std::span<batch_results* const> all, unsigned threads,
                          const Runs& runs) {
  const std::size_t bytes = runs.bytes_before(runs.size()), longest_alone = longest_alone_of(all, threads, bytes);
  const std::size_t element_bytes = all[0]->loops().element_bytes;
  std::atomic<std::uint64_t> longest = 0;
  const auto fold_one_by_one = [&](batch_results& results, std::size_t first, std::size_t last) {
    std::uint64_t longest_here = 0;
    collected_runs collected(results);
    runs.each(first, last, [&](std::size_t i, const operands& data, std::size_t count, const mask_view& mask) {
      longest_here = std::max<std::uint64_t>(longest_here, count);
      if (count * element_bytes > longest_alone) return;
      if (results.takes_runs_of(count)) {
        collected.add(i, data, count);
      } else {
        results.reduce(i, data, count, mask);
      }
    });
    collected.fold();
    raise(longest, longest_here);
  };
  const auto fold_by = [&](batch_results& results, std::size_t first, std::size_t last) {
    if (!results.takes_runs_of(longest_alone)) return fold_one_by_one(results, first, last);
    std::uint64_t longest_here = 0;
    for (std::size_t end; first < last; first = end) {
      end = std::min(last, first + arithmetic::most_runs);
      const run_tile tile(runs, first, end);
      if (results.takes_runs_of(tile.shortest) && tile.longest * element_bytes <= longest_alone) {
        longest_here = std::max<std::uint64_t>(longest_here, tile.longest);
        results.reduce_each(first, {tile.runs, end - first}, tile.counts);
      } else {
        fold_one_by_one(results, first, end);
      }
    }
    raise(longest, longest_here);
  };
  const auto fold = [&](std::size_t first, std::size_t last) {
    for (std::size_t end; first < last; first = end) {
      end = last;
      if (all.size() > 1) {
        for (end = first + 1;
             end < last && runs.bytes_before(end + 1) - runs.bytes_before(first) <= bytes_for_several;)
          ++end;
      }
      for (batch_results* const results : all) fold_by(*results, first, end);
    }
  };
  const auto cost_before = [&](std::size_t i) { return runs.bytes_before(i) + i * bytes_for_result; };
  run_in_shares(backend, threads, runs.size(), cost_before, fold);
  if (longest * element_bytes > longest_alone) {
    runs.each(0, runs.size(), [&](std::size_t i, const operands& data, std::size_t count, const mask_view& mask) {
      if (count * element_bytes > longest_alone) reduce_long(backend, all, threads, i, data, count, mask);
    });
  }
  return longest;
}

}  // namespace fanin::cpu
