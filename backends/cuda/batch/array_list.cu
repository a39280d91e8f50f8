// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/array_list.hpp"

#include <algorithm>

#include <fanin/cuda/check.cuh>
#include <fanin/cuda/fold_kernel.cuh>
#include <fanin/error.hpp>

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/runtime/scratch_pieces.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

/// The most elements of a chunk. Chunks are long, so that few states are merged.
constexpr std::uint64_t list_chunk = std::uint64_t{1} << 16;
constexpr int list_threads = 128;

/// The tables of long segments in a batch's elements.
struct list_tables {
  long_segments* longs;
  long_segments::entry* entries;
  unsigned* entry_of_chunk;
};
/// Entries that one launch writes. A kernel has up to 4096 bytes of parameters.
struct some_entries {
  static constexpr unsigned most = 96;
  unsigned long long counts;  ///< long_segments::counts
  unsigned count;
  long_segments::entry one[most];
};

/// Block b writes an entry, and the number of the entry for each of its chunks.
__global__ void __launch_bounds__(list_threads)
    write_entries_kernel(const list_tables to, const __grid_constant__ some_entries some) {
  device_code::overlap_with_next_launch();
  const long_segments::entry& mine = some.one[blockIdx.x];
  const std::uint64_t chunks = chunk_count(mine.length, list_chunk);
  for (std::uint64_t i = threadIdx.x; i < chunks; i += list_threads) {
    to.entry_of_chunk[mine.first_chunk + i] = static_cast<unsigned>(mine.segment);
  }
  if (threadIdx.x != 0) return;
  to.entries[mine.segment] = mine;
  to.longs->counts = some.counts;
}

/// The arrays that have elements, as segments that begin at distances from the array at the lowest address.
class array_list {
 public:
  explicit array_list(std::span<const input_views> arrays) {
    for (const input_views& x : arrays) {
      if (x.count() == 0) continue;
      if (arrays_ == 0 || x[0].data < first_) first_ = x[0].data;
      ++arrays_;
      chunks_ += chunk_count(x.count(), list_chunk);
    }
  }
  const void* first() const { return first_; }
  std::size_t count() const { return arrays_; }
  std::size_t chunks() const { return chunks_; }

  void enqueue_entries(std::span<const input_views> arrays, const list_tables& to, const execution& where) const {
    some_entries some{(static_cast<unsigned long long>(arrays_) << long_segments::chunk_bits) + chunks_, 0, {}};
    std::uint64_t array = 0, chunk = 0;
    for (const input_views& x : arrays) {
      if (x.count() == 0) continue;
      const auto distance = static_cast<const std::byte*>(x[0].data) - static_cast<const std::byte*>(first_);
      const std::uint64_t begin = static_cast<std::uint64_t>(distance) / byte_size(x.type());
      some.one[some.count++] = {array++, chunk, begin, x.count(), 0};
      chunk += chunk_count(x.count(), list_chunk);
      if (some.count < some.most && array < arrays_) continue;
      launch_overlapped(where, some.count, list_threads, 0, write_entries_kernel, to, some);
      some.count = 0;
    }
  }

 private:
  const void* first_ = nullptr;
  std::size_t arrays_ = 0, chunks_ = 0;
};

}  // namespace

void enqueue_lanes_of_list(const request& request, std::span<const input_views> arrays, std::uint64_t elements,
                           std::int64_t* lanes, context& context) {
  const kernel_launcher& kernel = *static_cast<const kernel_launcher*>(request.prepared);
  const batch_fold fold = kernel.batches();
  const array_list list(arrays);
  if (list.count() > long_segments::most) throw unsupported("an exact sum takes fewer than 2^24 arrays");
  const std::size_t of_chunks[] = {fold.state_bytes, sizeof(std::uint64_t), fold.exact_state_bytes, sizeof(unsigned)};
  const std::size_t total_bytes = list.count() * bytes_of_total(request);
  scratch_pieces measured;
  for (const std::size_t bytes : of_chunks) measured.take<void>(list.chunks() * bytes);
  measured.take<void>(sizeof(long_segments));
  measured.take<void>(list.count() * sizeof(long_segments::entry));
  measured.take<void>(total_bytes);
  const execution where = context.with_scratch(measured.taken_bytes());
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));

  batch_elements all{};
  batch_output out{};
  out.states = scratch.take<void>(list.chunks() * of_chunks[0]);
  out.present = scratch.take<std::uint64_t>(list.chunks() * of_chunks[1]);
  out.exact_states = scratch.take<void>(list.chunks() * of_chunks[2]);
  all.entry_of_chunk = scratch.take<unsigned>(list.chunks() * of_chunks[3]);
  all.longs = scratch.take<long_segments>(sizeof(long_segments));
  all.entries = scratch.take<long_segments::entry>(list.count() * sizeof(long_segments::entry));
  void* const totals = scratch.take<void>(total_bytes);
  out.value = row_of(request.what).value;
  out.rule = all.rule = rule_of(request.what, request.inputs.type());
  out.result = request.result;
  out.status = reinterpret_cast<batch_status*>(context.batch_status_memory());
  out.call = ++context.batches;
  all.kind = layout::segments;
  all.largest_number = presence_rule(request.what, request.inputs.type(), request.nan).largest_number;
  all.x = all.y = list.first();
  all.x_end = all.y_end = list.first();  // No vector is read that may end behind an array.
  all.results = list.count();
  all.count = elements;
  all.chunks = 1;
  all.least_chunk = list_chunk;
  all.most_short = std::max<std::uint64_t>(1, elements / list.chunks());  // Launches are sized by it.
  all.only_long = true;

  list.enqueue_entries(arrays, {all.longs, all.entries, all.entry_of_chunk}, where);
  kernel.launch_each(where, all, out, true);
  kernel.launch_refold(where, all, out);
  enqueue_lanes_of_segments(request, all, out, totals, lanes, where);
}

}  // namespace fanin::cuda
