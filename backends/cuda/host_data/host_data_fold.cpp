// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/host_data/host_data_fold.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace fanin::cuda {

host_data_fold::host_data_fold(const request& request, context& context)
    : request_(request),
      pipeline_(context, prepared_launcher(request), byte_size(request.inputs.type()), request.inputs.size()),
      present_(request) {}

void host_data_fold::push(const input_views& blocks) {
  if (!is_partial(blocks, request_.nan)) {
    present_.pass(blocks);
    return push_all(blocks);
  }
  present_.push(blocks, [this](const input_views& part) { push_all(part); });
}

void host_data_fold::fold_arrays(const input_views& inputs) {
  const void* const arrays[] = {inputs[0].data, inputs[1].data};
  pipeline_.fold_arrays(std::span(arrays, static_cast<std::size_t>(inputs.size())), inputs.count(), request_.threads);
  count_ = inputs.count();
}

void host_data_fold::wait(partial_result& into) {
  flush_pair();
  std::memcpy(into.total.bytes, pipeline_.total(), most_state_bytes);
  into.chain = pipeline_.longest_chain();
  const std::uint64_t all = count_ + present_.left_out();
  into.set_counts(prepared_launcher(request_).host(), row_of(request_.what).absent, all, all - present_.absent(),
                  present_.left_out());
}

void host_data_fold::push_all(const input_views& blocks) {
  if (blocks.size() == 1) {
    pipeline_.push(blocks[0].data, blocks.count(), request_.threads);
  } else {
    push_pair(blocks);
  }
  count_ += blocks.count();
}

/// Collects the elements of two inputs until they fill a chunk. The elements of the first input come before the
/// elements of the second input.
void host_data_fold::push_pair(input_views blocks) {
  const std::size_t chunk = chunk_bytes / (2 * byte_size(blocks.type()));
  while (blocks.count() > 0) {
    const std::size_t n = std::min(blocks.count(), chunk - pending_count_);
    for (int i = 0; i < 2; ++i) {
      const auto* const bytes = static_cast<const std::byte*>(blocks[i].data);
      pending_[i].insert(pending_[i].end(), bytes, bytes + n * byte_size(blocks.type()));
    }
    pending_count_ += n;
    if (pending_count_ == chunk) flush_pair();
    blocks = blocks.part(n, blocks.count() - n);
  }
}

void host_data_fold::flush_pair() {
  const void* const both[] = {pending_[0].data(), pending_[1].data()};
  if (pending_count_ > 0) pipeline_.fold_arrays(both, pending_count_, request_.threads);
  for (auto& elements : pending_) elements.clear();
  pending_count_ = 0;
}

}  // namespace fanin::cuda
