// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/fold_inputs.hpp"

#include <algorithm>
#include <chrono>

#include "backends/cuda/host_data/host_data_fold.hpp"
#include "backends/cuda/presence/presence.hpp"

namespace fanin::cuda {
namespace {

/// Folds `count` elements of data that the device can read, with as few launches as the states allow, whose states
/// are merged in order. part(begin, count) returns the operands for elements from `begin` on.
template <class Part>
void fold_data(const kernel_launcher& kernel, context& context, std::uint64_t count, std::uint64_t longest, Part part,
               partial_result& into) {
  const state_functions& fold = kernel.host();
  fold.reset(into.total.bytes);
  into.chain = {};
  std::uint64_t kernels = 0, begin = 0;
  longest = std::min(longest, fold.longest);
  const execution where = count > 0
                              ? context.with_scratch(kernel.scratch_bytes(context.where(), std::min(count, longest)))
                              : context.where();
  while (begin < count) {
    std::size_t states = 0;
    for (; states < context::state_slots && begin < count; ++states) {
      const std::uint64_t length = std::min(count - begin, longest);
      kernel.launch(where, part(begin, length), length, context.host_state(states));
      const rounding_chain kernel_chain = kernel.longest_chain(where, length);
      into.chain = {std::max(into.chain.adds, kernel_chain.adds), std::max(into.chain.merges, kernel_chain.merges)};
      begin += length;
    }
    check(cudaStreamSynchronize(context.where().stream), "cudaStreamSynchronize");
    for (std::size_t i = 0; i < states; ++i) fold.merge_partial(into.total.bytes, context.host_state(i));
    kernels += states;
  }
  into.chain.merges += static_cast<double>(kernels);
}

void fold_in_place(const request& request, const input_views& data, context& context, partial_result& into) {
  fold_data(
      prepared_launcher(request), context, data.count(), ~std::uint64_t{0},
      [&](std::uint64_t begin, std::uint64_t) { return operands_at(data, begin); }, into);
  into.set_counts(prepared_launcher(request).host(), row_of(request.what).absent, data.count(), data.count(), 0);
}

/// Folds copies of the inputs in which stand-ins take the place of absent elements.
void fold_present(const request& request, context& context, partial_result& into) {
  const kernel_launcher& kernel = prepared_launcher(request);
  present_copies copies(request, context);
  const std::uint64_t all = request.inputs.count();
  fold_data(
      kernel, context, all, copies.longest(),
      [&](std::uint64_t begin, std::uint64_t n) { return copies.enqueue(begin, n); }, into);
  const presence_counts found = copies.fetch_counts();
  into.set_counts(prepared_launcher(request).host(), row_of(request.what).absent, all, found.present, found.first);
}

/// Folds host data, which is copied to the device in chunks.
void fold_host_data(const request& request, context& context, partial_result& into) {
  host_data_fold fold(request, context);
  if (is_partial(request.inputs, request.nan)) {
    fold.push(request.inputs);
  } else {
    fold.fold_arrays(request.inputs);
  }
  fold.wait(into);
}

}  // namespace

void fold_inputs(const request& request, context& context, partial_result& into) {
  const input_views& inputs = request.inputs;
  const bool partial = is_partial(inputs, request.nan);
  if (inputs.place() == memory::device) {
    check_inputs_reach(inputs, context.where().device);
    return partial ? fold_present(request, context, into) : fold_in_place(request, inputs, context, into);
  }
  const void* const mapped_input = inputs.size() == 1 && !partial ? address_for_direct_read(inputs[0]) : nullptr;
  if (mapped_input == nullptr) return fold_host_data(request, context, into);
  const auto start = std::chrono::steady_clock::now();
  const array_view device_view(mapped_input, inputs.count(), inputs.type(), memory::device);
  fold_in_place(request, device_view, context, into);
  context.times = {0, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

}  // namespace fanin::cuda
