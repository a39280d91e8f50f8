// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/reduce_batch.hpp"

#include <atomic>
#include <string>

#include <fanin/error.hpp>

#include "backends/cpu/batch/axes.hpp"
#include "backends/cpu/batch/groups.hpp"
#include "backends/cpu/batch/index.hpp"
#include "backends/cpu/batch/keyed_groups.hpp"
#include "backends/cpu/batch/runs.hpp"
#include "backends/cpu/batch/strided_rows.hpp"
#include "backends/cpu/blocks.hpp"

namespace fanin::cpu {
namespace {

/// Rows of neighbours in memory.
class contiguous_rows {
 public:
  contiguous_rows(const batch& many, std::size_t element_bytes)
      : many_(many), element_bytes_(element_bytes), length_(places(reduced_axes(many))) {}
  std::size_t size() const { return many_.result_count; }
  std::size_t bytes_before(std::size_t i) const { return i * length_ * element_bytes_; }
  template <class F>
  void each(std::size_t first, std::size_t last, const F& f) const {
    if (first >= last) return;
    axis_walk where(kept_axes(many_), first);
    for (std::size_t i = first; i < last; ++i, where.next()) {
      const mask_view& mask = many_.inputs.mask();
      f(i, operands_at(many_, where.here(), element_bytes_), length_,
        mask ? mask.from(static_cast<std::uint64_t>(where.here().of_mask)) : mask);
    }
  }

 private:
  const batch& many_;
  std::size_t element_bytes_;
  std::size_t length_;
};

bool is_contiguous(const batch& many) {
  const auto along = reduced_axes(many);
  if (along.size() != 1 || along[0].count == 0) return along.empty() || places(along) == 0;
  for (int i = 0; i < many.inputs.size(); ++i) {
    if (along[0].stride[static_cast<std::size_t>(i)] != 1) return false;
  }
  return !many.inputs.mask() || along[0].mask_stride == 1;
}

/// Segments of an array, between offsets that were checked.
template <class Offset>
class segments_of {
 public:
  segments_of(const input_views& inputs, const Offset* offsets, std::size_t count, std::size_t element_bytes)
      : all_{inputs[0].data, inputs.size() == 2 ? inputs[1].data : nullptr},
        mask_(inputs.mask()),
        offsets_(offsets),
        count_(count),
        element_bytes_(element_bytes) {}
  std::size_t size() const { return count_; }
  std::size_t bytes_before(std::size_t i) const {
    return static_cast<std::size_t>(offsets_[i] - offsets_[0]) * element_bytes_;
  }
  template <class F>
  void each(std::size_t first, std::size_t last, const F& f) const {
    for (std::size_t i = first; i < last; ++i) {
      const auto begin = static_cast<std::size_t>(offsets_[i]);
      operands data = operands_from(all_, begin, element_bytes_);
      data.first = 0;
      f(i, data, static_cast<std::size_t>(offsets_[i + 1]) - begin, mask_ ? mask_.from(begin) : mask_);
    }
  }

 private:
  operands all_;
  mask_view mask_;
  const Offset* offsets_;
  std::size_t count_;
  std::size_t element_bytes_;
};

template <class Offset>
bool offsets_ascend(const cpu_backend& backend, unsigned threads, const Offset* offsets, std::size_t count) {
  std::atomic<bool> ascend = true;
  const auto cost_before = [](std::size_t i) { return i * sizeof(Offset); };
  run_in_shares(backend, threads, count, cost_before, [&](std::size_t first, std::size_t last) {
    bool here = true;
    for (std::size_t i = first; i < last; ++i) here &= offsets[i] <= offsets[i + 1];
    if (!here) ascend = false;
  });
  return ascend;
}

/// @throws invalid_argument unless offsets ascend, up to at most `last`
template <class Offset>
void check_offsets(const cpu_backend& backend, unsigned threads, const batch& many, const Offset* offsets,
                   std::uint64_t last) {
  const std::size_t count = many.result_count;
  if (offsets[count] <= last && offsets_ascend(backend, threads, offsets, count)) return;
  std::size_t i = 0;
  while (offsets[i] <= last && (i == 0 || offsets[i] >= offsets[i - 1])) ++i;
  throw invalid_argument("offset " + std::to_string(i) + " is " + shown_entry(many.index, i) +
                         ": offsets ascend from 0 to at most " + std::to_string(many.inputs.count()) +
                         ", the number of elements");
}

}  // namespace

batch_counts reduce_batch(const cpu_backend& backend, const batch& many, std::span<batch_results* const> all) {
  const request& request = all[0]->asked();
  const std::size_t element_bytes = all[0]->loops().element_bytes;
  batch_counts counts;
  if (many.kind == layout::rows && many.result_count == 0) return counts;  // No rows have no tiles.
  if (many.kind == layout::rows) {
    counts.longest = is_contiguous(many)
                         ? reduce_runs(backend, all, request.threads, contiguous_rows(many, element_bytes))
                         : reduce_strided_rows(backend, all, request.threads, many);
  } else if (many.kind == layout::segments) {
    counts.longest = with_index(many.index, [&]<class Offset>(const index_entries<Offset>& entries,
                                                              std::uint64_t largest) {
      const Offset* const offsets = entries.at(0, many.index.count, nullptr);  // Offsets have 32 or 64 bits.
      check_offsets(backend, request.threads, many, offsets, std::min<std::uint64_t>(largest, many.inputs.count()));
      return reduce_runs(backend, all, request.threads,
                         segments_of(many.inputs, offsets, many.result_count, element_bytes));
    });
  } else if (const auto keyed = reduce_keyed_groups(backend, *all[0], request, many)) {
    counts = *keyed;
  } else {
    const sorted_elements sorted(backend, request, many);
    all[0]->restore_indices(sorted.positions(), sorted.offsets());
    counts.longest = reduce_runs(backend, all, request.threads,
                                 segments_of(sorted.inputs(), sorted.offsets(), many.result_count, element_bytes));
    counts.absent = many.inputs.count() - sorted.inputs().count();
  }
  for (const batch_results* const one : all) one->check();
  return counts;
}

}  // namespace fanin::cpu
