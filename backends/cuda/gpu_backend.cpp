// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/gpu_backend.hpp"

#include <algorithm>
#include <chrono>
#include <span>

#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cpu/environment.hpp"
#include "backends/cuda/host_data/host_feed.hpp"
#include "backends/cuda/runtime/probe.hpp"

namespace fanin::cuda {
namespace {

/// The fold that gpu_backend::prepare() found.
const device_fold& kernel_of(const request& request) { return *static_cast<const device_fold*>(request.prepared); }

/// Writes the value, and returns its guarantees.
outcome finished(const request& request, const void* total, std::uint64_t count, const rounding_chain& chain,
                 void* result) {
  const device_fold& kernel = kernel_of(request);
  const host_fold& fold = kernel.host();
  const bool same_bits = fold.reproducibility == reproducibility::exact || kernel.ordered();
  const cpu::environment_guard guard;
  fold.finish(total, count, request.result, result);
  return {request.variant, request.how, same_bits ? fold.reproducibility : reproducibility::none,
          fold.bound(chain, count, request.result)};
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

class gpu_stream final : public stream {
 public:
  explicit gpu_stream(const request& request)
      : request_(request),
        context_(current_device()),
        feed_(context_, kernel_of(request), size_of(request.inputs.type()), request.inputs.size()) {}

  void push(const input_views& blocks) override {
    const device_scope here(context_.where().device);
    if (blocks.size() == 1) {
      feed_.push(blocks[0].data, blocks.count(), request_.threads);
    } else {
      push_pair(blocks);
    }
    count_ += blocks.count();
  }
  outcome finish(void* result) override {
    const device_scope here(context_.where().device);
    flush_pair();
    const void* total = feed_.total();
    return finished(request_, total, count_, feed_.longest_chain(), result);
  }

 private:
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

  request request_;
  context context_;
  host_feed feed_;
  std::uint64_t count_ = 0;
  std::vector<std::byte> pending_[2];
  std::size_t pending_count_ = 0;
};

/// Folds data that the device can read, with as few launches as the states allow, and merges the states of the
/// launches in order.
outcome fold_in_place(const request& request, const input_views& data, context& context, void* result) {
  const device_fold& kernel = kernel_of(request);
  const host_fold& fold = kernel.host();
  state_buffer total;
  fold.reset(total.bytes);
  rounding_chain chain;
  const std::uint64_t count = data.count();
  std::uint64_t begin = 0, kernels = 0;
  const execution where =
      count > 0 ? context.with_scratch(kernel.scratch_bytes(context.where(), std::min(count, fold.longest)))
                : context.where();
  while (begin < count) {
    std::size_t states = 0;
    for (; states < context::state_slots && begin < count; ++states) {
      const std::uint64_t length = std::min(count - begin, fold.longest);
      kernel.launch(where, operands_at(data, begin), length, context.host_state(states));
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
  return finished(request, total.bytes, count, chain, result);
}

/// Folds host data, which is copied to the device in chunks.
outcome fold_host_data(const request& request, context& context, void* result) {
  const input_views& inputs = request.inputs;
  const void* const arrays[] = {inputs[0].data, inputs[1].data};
  host_feed feed(context, kernel_of(request), size_of(inputs.type()), inputs.size());
  feed.fold_arrays(std::span(arrays, static_cast<std::size_t>(inputs.size())), inputs.count(), request.threads);
  const void* total = feed.total();
  return finished(request, total, inputs.count(), feed.longest_chain(), result);
}

}  // namespace

const availability& gpu_backend::probe() const noexcept { return cuda::probe(); }

support gpu_backend::prepare(request& request) const {
  if (request.own != nullptr) {
    return {reason::unsupported,
            std::string(name()) + " takes accumulators of your own in device code: fanin/fold.cuh"};
  }
  const device_fold* const kernel = find_kernel(request);
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
    return fold_in_place(request, inputs, context, result);
  }
  const void* const mapped_input = has_one_input ? address_for_direct_read(inputs[0]) : nullptr;
  if (mapped_input == nullptr) return fold_host_data(request, context, result);
  const auto start = std::chrono::steady_clock::now();
  const array_view device_view(mapped_input, inputs.count(), inputs.type(), memory::device);
  const outcome answer = fold_in_place(request, device_view, context, result);
  context.times = {0, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return answer;
}

std::unique_ptr<stream> gpu_backend::open(const request& request) const {
  return std::make_unique<gpu_stream>(request);
}

}  // namespace fanin::cuda
