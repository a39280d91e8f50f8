// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/batch_run.hpp"

#include <algorithm>

#include "backends/cuda/fold/finish.hpp"

namespace fanin::cuda {
namespace {

/// The most scratch for the states of elements, and the most for exact states, which replace states that do not fit.
/// The states are formed in as many parts as that takes. The states of a part are finished in parts again.
constexpr std::size_t most_scratch_bytes = std::size_t{1} << 28;

/// So many chunks keep any device busy to the end.
constexpr std::uint64_t enough_chunks = 8192;

/// The results whose states, `bytes` for each, fit into the scratch, of `count` results.
std::uint64_t results_in_scratch(std::size_t bytes, std::uint64_t count) {
  return bytes == 0 ? count : std::clamp<std::uint64_t>(most_scratch_bytes / bytes, 1, count);
}

}  // namespace

bool ends_states_of(const request& leader, const request& other) {
  const summand adds = row_of(other.what).adds;
  const bool is_possible = row_of(leader.what).adds == summand::deviations && leader.kind != layout::groups &&
                           !leader.adds && !other.adds && leader.method == other.method;
  return is_possible &&
         (adds == summand::deviations ||
          (adds == summand::elements && leader.method == method::exact && is_floating(leader.inputs.type())));
}

batch_run::batch_run(std::span<batch_end> ends, const batch& many, const batch_elements& elements)
    : ends_(ends), many_(many), kernel_(prepared_kernel(ends[0].what)), fold_(kernel_.batches()), all_(elements) {
  const request& first = ends[0].what;
  batch_output& out = ends[0].out;
  lines_ = fold_.has_lines && !all_.partial && are_lines(many);
  if (lines_ && all_.kind == layout::rows) {
    while (all_.chunks > 1 && 2 * all_.chunk <= fold_.most_chunk &&
           many.result_count * all_.chunks >= 2 * enough_chunks) {
      all_.chunk *= 2;
      all_.chunks = (all_.length - 1) / all_.chunk + 1;
    }
  }
  has_short_ = lines_ && all_.kind != layout::rows && fold_.most_short > 0;
  all_.most_short = has_short_ ? fold_.most_short : all_.least_chunk;
  has_long_ = all_.kind != layout::rows && all_.count > all_.most_short;
  most_long_ = has_long_ ? all_.count / all_.most_short + 1 : 0;
  const bool has_default_type = first.result == default_result(first.what, first.inputs.type());
  out.has_type_of_elements = !has_default_type && first.result == first.inputs.type();
  is_direct_ = fold_.finishes && all_.chunks == 1 && !first.adds && ends.size() == 1 &&
               (has_default_type || (fold_.finishes_as_elements && out.has_type_of_elements));
  // A state that a kernel merges holds a limited number of elements.
  merges_long_ = is_direct_ && has_short_ && fold_.exact_state_bytes == 0 && all_.count <= kernel_.host().longest;
  const std::uint64_t most =
      has_long_ ? std::min<std::uint64_t>(many.result_count, long_segments::most) : many.result_count;
  const std::size_t chunk_bytes = fold_.state_bytes + sizeof(std::uint64_t);
  part_ = is_direct_ ? most : results_in_scratch(chunk_bytes * all_.chunks, most);
  finished_ = is_direct_ ? part_ : results_in_scratch(fold_.exact_state_bytes * all_.chunks, part_);
  if (many.kind == layout::groups) sort_.emplace(first, many);
}

batch_run::chunk_memory batch_run::take_chunks(scratch_pieces& scratch, std::size_t chunks,
                                               std::size_t exact_chunks) const {
  auto* const states = scratch.take<std::byte>(chunks * fold_.state_bytes);
  auto* const present = scratch.take<std::uint64_t>(chunks * sizeof(std::uint64_t));
  return {states, present, scratch.take<std::byte>(exact_chunks * fold_.exact_state_bytes)};
}

void batch_run::take(scratch_pieces& scratch, const execution& where) {
  const std::size_t chunks = is_direct_ ? 0 : part_ * all_.chunks, long_chunks = 2 * most_long_;
  memory_ = take_chunks(scratch, chunks, is_direct_ ? 0 : finished_ * all_.chunks);
  memory_of_long_ = take_chunks(scratch, long_chunks, long_chunks);
  all_.longs = scratch.take<long_segments>(sizeof(long_segments));
  all_.entries = scratch.take<long_segments::entry>(most_long_ * sizeof(long_segments::entry));
  all_.entry_of_chunk = scratch.take<unsigned>(has_short_ ? long_chunks * sizeof(unsigned) : 0);
  kernel_scratch_bytes_ = is_never_cut(fold_) ? kernel_.scratch_bytes(where, all_.count) : 0;
  kernel_scratch_ = scratch.take<std::byte>(kernel_scratch_bytes_);
}

void batch_run::enqueue(scratch_pieces& scratch, const execution& where) {
  batch_output& out = ends_[0].out;
  if (ends_[0].what.adds && many_.kind == layout::segments) {
    all_.results = many_.result_count;
    enqueue_check_of_offsets(all_, out.status, where);
  }
  if (sort_) sort_->enqueue(scratch, where, all_, out);
  execution of_kernel = where;
  of_kernel.scratch = kernel_scratch_;
  of_kernel.scratch_bytes = kernel_scratch_bytes_;
  for (std::uint64_t begin = 0; begin < many_.result_count; begin += part_) {
    enqueue_part(begin, where, of_kernel);
    if (has_long_) enqueue_long(where, of_kernel);
  }
}

/// Enqueues the kernels of the results from `begin` on, but for those of long segments, which are noted.
void batch_run::enqueue_part(std::uint64_t begin, const execution& where, const execution& of_kernel) {
  batch_output out = ends_[0].out;
  all_.first = begin;
  all_.results = std::min(part_, many_.result_count - begin);
  all_.only_long = false;
  out.states = is_direct_ ? nullptr : memory_.states;
  out.present = memory_.present;
  out.exact_states = memory_.exact_states;
  if (has_long_) check(cudaMemsetAsync(all_.longs, 0, sizeof *all_.longs, where.stream), "cudaMemsetAsync");
  kernel_.launch_each(of_kernel, all_, out, lines_);
  for (std::uint64_t done = 0; done < all_.results; done += finished_) {
    batch_elements some = all_;
    some.first = begin + done;
    some.results = std::min(finished_, all_.results - done);
    if (!is_direct_) out.states = memory_.states + done * all_.chunks * fold_.state_bytes;
    out.present = memory_.present + done * all_.chunks;
    kernel_.launch_refold(where, some, out);
    if (!is_direct_) enqueue_ends(some, out, where);
  }
}

/// Enqueues the kernels of the segments that were noted.
void batch_run::enqueue_long(const execution& where, const execution& of_kernel) {
  batch_output out = ends_[0].out;
  all_.only_long = true;
  (merges_long_ ? out.partials : out.states) = memory_of_long_.states;
  out.present = memory_of_long_.present;
  out.exact_states = memory_of_long_.exact_states;
  kernel_.launch_each(of_kernel, all_, out, lines_);
  kernel_.launch_refold(where, all_, out);
  if (!merges_long_) enqueue_ends(all_, out, where);
}

/// Enqueues the kernels that make results of the states in `with_states`.
void batch_run::enqueue_ends(const batch_elements& some, const batch_output& with_states,
                             const execution& where) const {
  for (const batch_end& end : ends_) {
    batch_output out = end.out;
    out.states = with_states.states;
    out.present = with_states.present;
    out.exact_states = with_states.exact_states;
    enqueue_finish_each(ends_[0].what, end.what, some, out, where);
  }
}

}  // namespace fanin::cuda
