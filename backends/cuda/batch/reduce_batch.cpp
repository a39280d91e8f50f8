// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/batch/reduce_batch.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <fanin/error.hpp>

#include "backends/batch_empty.hpp"
#include "backends/cpu/batch/index.hpp"
#include "backends/cuda/batch/batch_run.hpp"
#include "backends/cuda/batch/group_tables.hpp"
#include "backends/cuda/batch/group_words.hpp"
#include "backends/cuda/batch/groups.hpp"
#include "backends/recipe_functions.hpp"

namespace fanin::cuda {
namespace {

/// The request with the method by which its batch is reduced.
request with_method_of_batch(request request) {
  const bool may_change = request.kind == layout::groups && !is_never_cut(prepared_kernel(request).batches());
  if (may_change) request.method = method_of_groups(request);
  return request;
}

/// The bound of a result to which `count` elements are added that are folded with the chain.
error_bound bound_of_addition(const request& request, const rounding_chain& chain, std::uint64_t count) {
  const recipe_functions& recipe =
      *find_functions(request.what, request.inputs.type(), with_method_of_batch(request).method);
  return recipe.addition->bound(chain, count, request.result);
}

/// The first offset or key that is wrong is entry i. @throws invalid_argument
[[noreturn]] void throw_bad_index(const batch& many, std::uint64_t i) {
  if (many.kind == layout::segments) {
    throw invalid_argument("offset " + std::to_string(i) +
                           " or the next one is wrong: offsets ascend from 0 to at most " +
                           std::to_string(many.inputs.count()) + ", the number of elements");
  }
  alignas(8) std::byte key[sizeof(std::uint64_t)];
  const std::size_t bytes = byte_size(many.index.type);
  check(cudaMemcpy(key, static_cast<const std::byte*>(many.index.data) + i * bytes, bytes, cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  throw cpu::key_of_no_group(i, cpu::shown_entry(array_view(key, 1, many.index.type), 0), many.result_count);
}

/// The memory on the device for results that go to `to`: this, or scratch.
void* take_results(const request& request, const results_view& to, scratch_pieces& scratch) {
  return to.place == memory::device ? to.data : scratch.take<void>(to.count * result_bytes(request));
}
/// Copies results of the host that are added to.
void copy_earlier(const request& request, const results_view& to, void* results, cudaStream_t stream) {
  if (!request.adds || to.place == memory::device) return;
  check(cudaMemcpyAsync(results, to.data, to.count * result_bytes(request), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
}

/// The memory for keys of 32 bits, if keys have 8 or 16 bits. Otherwise this is null.
std::uint32_t* take_wide_keys(const batch& groups, scratch_pieces& scratch) {
  if (byte_size(groups.index.type) >= sizeof(std::uint32_t)) return nullptr;
  return scratch.take<std::uint32_t>(groups.index.count * sizeof(std::uint32_t));
}

/// Enqueues the reduction of groups that are not sorted, like enqueue_batch(). `tables` reduces `read`, which is
/// `groups` with keys of 32 or 64 bits.
template <class Tables>
const void* enqueue_tables(const Tables& tables, const request& request, const batch& groups, batch& read,
                           const results_view& to, batch_output& out, context& context) {
  scratch_pieces measured;
  take_results(request, to, measured);
  take_wide_keys(groups, measured);
  const execution where = context.with_scratch(measured.taken_bytes() + tables.scratch_bytes());
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));
  out.results = take_results(request, to, scratch);
  if (std::uint32_t* const wide_keys = take_wide_keys(groups, scratch)) {
    widen_keys(groups, wide_keys, where);
    read.index.data = wide_keys;
  }
  copy_earlier(request, to, out.results, where.stream);
  tables.enqueue(scratch, where, out);
  return out.results;
}

}  // namespace

const void* enqueue_batch(std::span<const request> asked, const batch& many, std::span<const results_view> to,
                          context& context, bool reports) {
  std::vector<batch_end> ends;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (to[i].place == memory::device) {
      check_reach(to[i].data, many.result_count * result_bytes(asked[i]), context.where().device,
                  "the memory for results");
    }
    const request one = with_method_of_batch(asked[i]);
    ends.push_back({one, output_of(one, many, context)});
  }
  const request& first = ends[0].what;
  batch_output& out = ends[0].out;
  const batch_elements all = elements_of(first, many, context.where().device);
  // Kernels of rows read no fact of an earlier batch, unless they add to results.
  if (reports || first.adds || many.kind != layout::rows) {
    check(cudaMemsetAsync(out.status, 0, sizeof *out.status, context.where().stream), "cudaMemsetAsync");
  }
  if (many.kind == layout::groups) {
    const execution& where = context.where();
    const batch_fold fold = prepared_kernel(first).batches();
    batch read = many;
    if (byte_size(read.index.type) < sizeof(std::uint32_t)) read.index.type = element_type::u32;
    if (group_tables::serve(first, read, where)) {
      return enqueue_tables(group_tables(first, read, where), first, many, read, to[0], out, context);
    }
    if (!is_never_cut(fold) && group_words::serve(first, read, where)) {
      return enqueue_tables(group_words(first, read, fold.state_bytes), first, many, read, to[0], out, context);
    }
  }
  batch_run run(ends, many, all);
  const auto take = [&](scratch_pieces& scratch, const execution& where) {
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ends[i].out.results = take_results(ends[i].what, to[i], scratch);
    }
    run.take(scratch, where);
  };
  scratch_pieces measured;
  take(measured, context.where());
  const execution where = context.with_scratch(measured.taken_bytes() + run.sort_bytes());
  scratch_pieces scratch(static_cast<std::byte*>(where.scratch));
  take(scratch, where);
  copy_earlier(first, to[0], out.results, where.stream);
  run.enqueue(scratch, where);
  return out.results;
}

void enqueue_batches(std::span<const request> asked, const batch& many, std::span<const results_view> to,
                     context& context) {
  const auto follows = [&](std::size_t i, std::size_t leader) {
    return i != leader && ends_states_of(asked[leader], asked[i]) &&
           (leader < i || !ends_states_of(asked[i], asked[leader]));
  };
  for (std::size_t leader = 0; leader < asked.size(); ++leader) {
    std::vector<request> together{asked[leader]};
    std::vector<results_view> results{to[leader]};
    bool is_led = false;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      is_led = is_led || follows(leader, i);
      if (!follows(i, leader)) continue;
      together.push_back(asked[i]);
      results.push_back(to[i]);
    }
    if (!is_led) enqueue_batch(together, many, results, context);
  }
}

outcome reduce_batch(const request& request, const batch& many, const results_view& out, context& context) {
  const execution& where = context.where();
  const std::size_t bytes = many.result_count * result_bytes(request);
  batch_status found{};
  if (many.result_count > 0) {
    const void* const results = enqueue_batch({&request, 1}, many, {&out, 1}, context, true);
    check(cudaMemcpyAsync(context.host_state(0), context.batch_status_memory(), sizeof found, cudaMemcpyDeviceToHost,
                          where.stream),
          "cudaMemcpyAsync");
    if (out.place == memory::host) {
      check(cudaMemcpyAsync(out.data, results, bytes, cudaMemcpyDeviceToHost, where.stream), "cudaMemcpyAsync");
    }
    check(cudaStreamSynchronize(where.stream), "cudaStreamSynchronize");
    std::memcpy(&found, context.host_state(0), sizeof found);
  } else if (many.kind == layout::groups && many.inputs.count() > 0) {
    if (!many.drops_others) throw_bad_index(many, 0);
    found.absent = many.inputs.count();
  }
  if (found.bad_index != 0) throw_bad_index(many, ~found.bad_index);
  const auto of_result = [&](unsigned long long noted) { return name_of_result(many.kind, ~noted) + ": "; };
  if (found.overflowed != 0)
    throw overflow(of_result(found.overflowed) + "the " + std::string(to_string(request.what)) + " does not fit");
  if (found.too_few != 0) {
    throw invalid_argument(of_result(found.too_few) + too_few(request.what));
  }
  const kernel_launcher& kernel = prepared_kernel(request);
  const std::uint64_t longest = many.kind == layout::rows ? elements_of_row(many) : found.longest;
  const rounding_chain chain = kernel.chain_of_result(longest);
  const bool same_bits = kernel.host().order_free || kernel.ordered();
  const error_bound bound =
      request.adds ? bound_of_addition(request, chain, longest) : kernel.host().bound(chain, longest, request.result);
  return {request.variant, request.method, same_bits ? kernel.host().reproducibility() : reproducibility::none, bound,
          found.absent};
}

}  // namespace fanin::cuda
