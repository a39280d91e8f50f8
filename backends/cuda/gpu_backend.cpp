// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/gpu_backend.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/environment.hpp"
#include "backends/cpu/presence.hpp"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/batch/reduce_batch.hpp"
#include "backends/cuda/host_data/host_feed.hpp"
#include "backends/cuda/presence/presence.hpp"
#include "backends/cuda/runtime/probe.hpp"

namespace fanin::cuda {
namespace {

/// The fold that gpu_backend::prepare() found.
const device_fold& kernel_of(const request& request) { return *static_cast<const device_fold*>(request.prepared); }

/// Elements that are folded, those among them that take part, and the count with which the fold is finished.
struct counts {
  std::uint64_t all, present, finished;
  explicit counts(std::uint64_t count) : all(count), present(count), finished(count) {}
  /// @throws invalid_argument if the operation has no value for so few elements
  counts(const request& request, const presence_rule& rule, std::uint64_t all_, std::uint64_t present_)
      : all(all_), present(present_), finished(finished_count(rule.absent, all_, present_)) {
    if (request.state_bytes == 0) check_count(request.what, present);
  }
};

/// Writes the value, and returns its guarantees.
outcome finished(const request& request, const void* total, const counts& count, const rounding_chain& chain,
                 void* result) {
  const device_fold& kernel = kernel_of(request);
  const host_fold& fold = kernel.host();
  const bool same_bits = fold.reproducibility == reproducibility::exact || kernel.ordered();
  const cpu::environment_guard guard;
  state_buffer none;
  if (count.present == 0) fold.reset(none.bytes);  // Zeros that stand for elements have a sign.
  const void* const state = count.present == 0 ? none.bytes : total;
  if (request.state_bytes > 0) {
    std::memcpy(result, state, request.state_bytes);
  } else {
    fold.finish(state, count.finished, request.result, result);
  }
  return {request.variant, request.how, same_bits ? fold.reproducibility : reproducibility::none,
          fold.bound(chain, count.all, request.result), count.all - count.present};
}

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// The device whose memory it is; for other memory, the current device.
int device_of(const void* data) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : current_device();
}

/// Adds `by` to the index in a result that has one.
void shift_index(const request& request, std::uint64_t by, void* result) {
  with_result_type(request.what, request.result, [&]<class R>() {
    if constexpr (fanin::form_of<R>::form == result_form::indexed) static_cast<R*>(result)->index += by;
  });
}

/// Host data that comes in blocks, and is copied to the device in chunks.
class fed_fold {
 public:
  fed_fold(const request& request, context& context)
      : request_(request),
        feed_(context, kernel_of(request), size_of(request.inputs.type()), request.inputs.size()),
        present_(request) {}

  void push(const input_views& blocks) {
    if (!is_partial(blocks, request_.nan)) {
      present_.pass(blocks);
      return push_all(blocks);
    }
    present_.push(blocks, [this](const input_views& part) { push_all(part); });
  }
  /// Folds whole arrays, to which nothing is pushed.
  void fold_arrays(const input_views& inputs) {
    const void* const arrays[] = {inputs[0].data, inputs[1].data};
    feed_.fold_arrays(std::span(arrays, static_cast<std::size_t>(inputs.size())), inputs.count(), request_.threads);
    count_ = inputs.count();
  }
  outcome finish(void* result) {
    flush_pair();
    const void* const total = feed_.total();
    const std::uint64_t all = count_ + present_.left_out();
    const counts count(request_, present_.rule(), all, all - present_.absent());
    const outcome answer = finished(request_, total, count, feed_.longest_chain(), result);
    shift_index(request_, present_.left_out(), result);
    return answer;
  }

 private:
  void push_all(const input_views& blocks) {
    if (blocks.size() == 1) {
      feed_.push(blocks[0].data, blocks.count(), request_.threads);
    } else {
      push_pair(blocks);
    }
    count_ += blocks.count();
  }
  /// Collects the elements of two inputs until they fill a chunk: first those of one input, then those of the other.
  void push_pair(input_views blocks) {
    const std::size_t chunk = chunk_bytes / (2 * size_of(blocks.type()));
    while (blocks.count() > 0) {
      const std::size_t n = std::min(blocks.count(), chunk - pending_count_);
      for (int i = 0; i < 2; ++i) {
        const auto* const bytes = static_cast<const std::byte*>(blocks[i].data);
        pending_[i].insert(pending_[i].end(), bytes, bytes + n * size_of(blocks.type()));
      }
      pending_count_ += n;
      if (pending_count_ == chunk) flush_pair();
      blocks = blocks.part(n, blocks.count() - n);
    }
  }
  void flush_pair() {
    const void* const both[] = {pending_[0].data(), pending_[1].data()};
    if (pending_count_ > 0) feed_.fold_arrays(both, pending_count_, request_.threads);
    for (auto& elements : pending_) elements.clear();
    pending_count_ = 0;
  }

  const request& request_;
  host_feed feed_;
  cpu::present_blocks present_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> pending_[2];
  std::size_t pending_count_ = 0;
};

class gpu_stream final : public stream {
 public:
  explicit gpu_stream(const request& request)
      : request_(request), context_(current_device()), fold_(request_, context_) {}

  void push(const input_views& blocks) override {
    const device_scope here(context_.where().device);
    fold_.push(blocks);
  }
  outcome finish(void* result) override {
    const device_scope here(context_.where().device);
    return fold_.finish(result);
  }

 private:
  request request_;
  context context_;
  fed_fold fold_;
};

/// `count` elements of data that the device can read, folded with as few launches as the states allow, whose states
/// are merged in order. part(begin, count) returns the operands for elements from `begin` on.
struct folded_data {
  state_buffer total;
  rounding_chain chain;

  template <class Part>
  folded_data(const device_fold& kernel, context& context, std::uint64_t count, std::uint64_t longest, Part part) {
    const host_fold& fold = kernel.host();
    fold.reset(total.bytes);
    std::uint64_t kernels = 0, begin = 0;
    longest = std::min(longest, fold.longest);
    const execution where =
        count > 0 ? context.with_scratch(kernel.scratch_bytes(context.where(), std::min(count, longest)))
                  : context.where();
    while (begin < count) {
      std::size_t states = 0;
      for (; states < context::state_slots && begin < count; ++states) {
        const std::uint64_t length = std::min(count - begin, longest);
        kernel.launch(where, part(begin, length), length, context.host_state(states));
        const rounding_chain kernel_chain = kernel.longest_chain(where, length);
        chain = {std::max(chain.adds, kernel_chain.adds), std::max(chain.merges, kernel_chain.merges)};
        begin += length;
      }
      check(cudaStreamSynchronize(context.where().stream), "cudaStreamSynchronize");
      const cpu::environment_guard guard;
      for (std::size_t i = 0; i < states; ++i) fold.merge(total.bytes, context.host_state(i));
      kernels += states;
    }
    chain.merges += static_cast<double>(kernels);
  }
};

outcome fold_in_place(const request& request, const input_views& data, context& context, void* result) {
  const folded_data folded(kernel_of(request), context, data.count(), ~std::uint64_t{0},
                           [&](std::uint64_t begin, std::uint64_t) { return operands_at(data, begin); });
  return finished(request, folded.total.bytes, counts(data.count()), folded.chain, result);
}

/// The same where elements may be absent.
outcome fold_present(const request& request, context& context, void* result) {
  present_copies copies(request, context);
  const std::uint64_t all = request.inputs.count();
  const folded_data folded(kernel_of(request), context, all, copies.longest(),
                           [&](std::uint64_t begin, std::uint64_t n) { return copies.enqueue(begin, n); });
  const presence_counts found = copies.fetch_counts();
  const counts count(request, copies.rule(), all, found.present);
  const outcome answer = finished(request, folded.total.bytes, count, folded.chain, result);
  shift_index(request, found.first, result);
  return answer;
}

/// Folds host data, which is copied to the device in chunks.
outcome fold_host_data(const request& request, context& context, void* result) {
  fed_fold fold(request, context);
  if (is_partial(request.inputs, request.nan)) {
    fold.push(request.inputs);
  } else {
    fold.fold_arrays(request.inputs);
  }
  return fold.finish(result);
}

}  // namespace

const availability& gpu_backend::probe() const noexcept { return cuda::probe(); }

support gpu_backend::prepare(request& request) const {
  if (request.own != nullptr) {
    return {reason::unsupported,
            std::string(name()) + " takes accumulators of your own in device code: fanin/fold.cuh"};
  }
  if (request.adds) {
    return {reason::unsupported, std::string(name()) + " adds to no results: reduce to new ones"};
  }
  const device_fold* kernel = find_kernel(request);
  if (request.kind != layout::array) {
    if (request.inputs.place() != memory::device) {
      return {reason::unsupported, std::string(name()) + " reduces " + std::string(to_string(request.kind)) +
                                       " of device memory only: copy the input there"};
    }
    if (kernel != nullptr && kernel->batches().state_bytes == 0) {
      return {reason::unsupported, std::string(name()) + " reduces no " + std::string(to_string(request.kind))};
    }
    if (request.kind == layout::groups) {
      fanin::request in_groups = request;
      in_groups.how = method_of_groups(request);
      kernel = find_kernel(in_groups);
    }
  }
  request.prepared = kernel;
  support answer = check_offer(*this, request, kernel != nullptr);
  return answer.usable() ? kernel->runs_here() : answer;
}

outcome gpu_backend::reduce(const request& request, void* result) const {
  const bool on_device = request.inputs.place() == memory::device && request.inputs.count() > 0;
  const int device = on_device ? device_of(request.inputs[0].data) : current_device();
  return reduce(request, default_context(device), result);
}

outcome gpu_backend::reduce(const request& request, context& context, void* result) const {
  const device_scope here(context.where().device);
  const input_views& inputs = request.inputs;
  const bool has_one_input = inputs.size() == 1;
  if (inputs.place() == memory::device) {
    check_inputs_reach(inputs, context.where().device);
    return is_partial(inputs, request.nan) ? fold_present(request, context, result)
                                           : fold_in_place(request, inputs, context, result);
  }
  const bool direct = has_one_input && !is_partial(inputs, request.nan);
  const void* const mapped_input = direct ? address_for_direct_read(inputs[0]) : nullptr;
  if (mapped_input == nullptr) return fold_host_data(request, context, result);
  const auto start = std::chrono::steady_clock::now();
  const array_view device_view(mapped_input, inputs.count(), inputs.type(), memory::device);
  const outcome answer = fold_in_place(request, device_view, context, result);
  context.times = {0, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return answer;
}

outcome gpu_backend::reduce_each(const request& request, const batch& many, const results_view& out) const {
  context& here = default_context(many.inputs.count() > 0 ? device_of(many.inputs[0].data) : current_device());
  const device_scope scope(here.where().device);
  return reduce_batch(request, many, out, here);
}

std::unique_ptr<stream> gpu_backend::open(const request& request) const {
  return std::make_unique<gpu_stream>(request);
}

}  // namespace fanin::cuda
