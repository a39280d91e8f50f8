// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold/finish.hpp"

#include "backends/cuda/batch/batch_writer.cuh"
#include "backends/cuda/fold/finish_kernel.cuh"

namespace fanin::cuda {
namespace {

__global__ void __launch_bounds__(tuning::finish_threads)
    check_offsets_kernel(const __grid_constant__ batch_elements all, batch_status* status) {
  overlap_with_next_launch();
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * tuning::finish_threads + threadIdx.x; i < all.results;
       i += std::uint64_t{gridDim.x} * tuning::finish_threads) {
    if (!place_of_segment(all, all.first + i).valid) {
      atomicMax(&status->bad_index, ~static_cast<unsigned long long>(all.first + i));
    }
  }
}

/// The kernel that ends a request, and the states of the kernels before it.
struct finisher {
  void (*kernel)(batch_elements, batch_output, state_source, finish_target, unsigned);
  operation ended_as;
  state_form of_kernel, of_batch;
  std::size_t batch_state_bytes, total_bytes;
};
finisher finisher_of_integer_log_sum(element_type type) {
  using M = accumulator::log_sum<double>;
  static_assert(sizeof(typename M::state) == sizeof(float_log_sum::state));
  const state_form form = form_of_integer_log_sum(type);
  return {finish_kernel<M>, operation::log_sum_exp, form, form, sizeof(typename M::state), sizeof(typename M::state)};
}
finisher finisher_of(const request& request) {
  const element_type type = request.inputs.type();
  if (is_integer(type) && request.what == operation::log_sum_exp) return finisher_of_integer_log_sum(type);
  return with_recipe(request.what, type, request.method, []<class Recipe>(Recipe) -> finisher {
    using M = merging_t<Recipe>;
    using total = typename M::state;
    constexpr state_form of_kernel = form_of_states<Recipe>();
    constexpr operation what = ended_as<Recipe>();
    if constexpr (!has_kernels<Recipe>) {
      return {};
    } else if constexpr (has_scaled<M>) {
      return {finish_kernel<M>, what, of_kernel, state_form::scaled, sizeof(typename scaled_t<M>::state),
              sizeof(total)};
    } else if constexpr (is_wide_state(sizeof(total))) {
      return {finish_kernel<M>, what, of_kernel, state_form::merged, sizeof(total), sizeof(total)};
    } else {
      return {finish_kernel<M>, what, of_kernel, of_kernel, sizeof(typename device_recipe<Recipe>::partial),
              sizeof(total)};
    }
  });
}

finish_target target_for(const request& request, const finisher& by) {
  finish_target target = target_of(request.what, request.inputs.type(), request.result, by.ended_as);
  target.adds = request.adds;
  if (request.adds) target.takes_short_ends = false;
  return target;
}

/// Launches the end of a single result in `result`, or of a merged state in `merged`.
void enqueue_single(const request& request, const state_run& run, const presence_counts* present, void* result,
                    void* merged, cudaStream_t stream) {
  const finisher by = finisher_of(request);
  finish_target target = target_for(request, by);
  target.is_single = true;
  target.takes_short_ends = false;
  target.merged = merged;
  target.absent = row_of(request.what).absent;
  target.count = request.inputs.count();
  target.present = present;
  const std::size_t begin = run.begins_with_total ? 1 : 0;
  batch_elements all{};
  all.kind = layout::rows;
  all.results = 1;
  all.chunks = run.count - begin;
  batch_output out{};
  out.states = run.states + begin * most_state_bytes;
  out.results = result;
  out.result = request.result;
  const state_source from{by.of_kernel, most_state_bytes, run.begins_with_total ? run.states : nullptr};
  by.kernel<<<1, 32, 0, stream>>>(all, out, from, target, 1);
  check(cudaGetLastError(), "launching the end of a reduction");
}

}  // namespace

void enqueue_merge(const request& request, const state_run& run, cudaStream_t stream) {
  enqueue_single(request, run, nullptr, nullptr, run.states, stream);
}

void enqueue_finish(const request& request, const state_run& run, const presence_counts* present, void* result,
                    cudaStream_t stream) {
  enqueue_single(request, run, present, result, nullptr, stream);
}

void enqueue_finish_each(const request& leader, const request& request, const batch_elements& all,
                         const batch_output& out, const execution& where) {
  finisher by = finisher_of(leader);
  by.ended_as = finisher_of(request).ended_as;
  const std::uint64_t results = all.only_long ? all.count / all.most_short + 1 : all.results;
  const auto group_size =
      static_cast<unsigned>(all.only_long ? 32 : std::bit_ceil(std::min<std::uint64_t>(all.chunks, 32)));
  unsigned blocks = blocks_for(where, results * group_size / tuning::finish_threads + 1);
  // There may be far fewer long segments than `results`.
  if (all.only_long) blocks = std::min(blocks, 8 * static_cast<unsigned>(where.multiprocessors));
  launch_overlapped(where, blocks, tuning::finish_threads, 0, by.kernel, all, out,
                    state_source{by.of_batch, by.batch_state_bytes, nullptr}, target_for(request, by), group_size);
}

std::size_t bytes_of_total(const request& request) { return finisher_of(request).total_bytes; }

void enqueue_lanes_of_segments(const request& request, const batch_elements& all, const batch_output& out,
                               void* totals, std::int64_t* lanes, const execution& where) {
  const finisher by = finisher_of(request);
  finish_target target = target_for(request, by);
  target.merged = totals;
  target.takes_short_ends = false;
  constexpr unsigned at_once = tuning::finish_threads / 32;
  launch_overlapped(where, blocks_for(where, all.results / at_once + 1), tuning::finish_threads, 0, by.kernel, all,
                    out, state_source{by.of_batch, by.batch_state_bytes, nullptr}, target, 32u);
  target.merged = nullptr;
  target.lanes = lanes;
  target.count = all.count;
  batch_elements one{};
  one.kind = layout::rows;
  one.results = 1;
  one.chunks = all.results;
  batch_output of_one{};
  of_one.states = totals;
  launch_overlapped(where, 1, 32, 0, by.kernel, one, of_one,
                    state_source{state_form::merged, by.total_bytes, nullptr}, target, 32u);
}

void enqueue_check_of_offsets(const batch_elements& all, batch_status* status, const execution& where) {
  launch_overlapped(where, blocks_for(where, all.results / tuning::finish_threads + 1), tuning::finish_threads, 0,
                    check_offsets_kernel, all, status);
}

}  // namespace fanin::cuda
