// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/gpu_backend.hpp"

#include <string>
#include <vector>

#include <fanin/accumulator/earlier_result.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cuda/batch/reduce_batch.hpp"
#include "backends/cuda/fold_inputs.hpp"
#include "backends/cuda/host_data/host_data_fold.hpp"
#include "backends/cuda/runtime/probe.hpp"
#include "backends/cuda/several_devices.hpp"
#include "backends/presence_rule.hpp"

namespace fanin::cuda {
namespace {

int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

/// The device in whose memory the inputs are; for others, and for no elements, the current device.
int device_of(const input_views& inputs) {
  if (inputs.place() == memory::host || inputs.count() == 0) return current_device();
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, inputs[0].data), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : current_device();
}

/// Whether options::devices goes with the other options. @throws invalid_argument if there is no such device
support check_devices(const fanin::backend& b, const request& request) {
  if (request.devices.empty()) return {};
  const int count = b.device_count();
  for (const int device : request.devices) {
    if (device < 0 || device >= count) {
      throw invalid_argument("there is no device " + std::to_string(device) + "; this machine has " +
                             std::to_string(count));
    }
  }
  if (request.kind != layout::array) {
    return {reason::unsupported, std::string(b.name()) + " does not divide " + std::string(to_string(request.kind)) +
                                     " among devices: leave out the option `devices`"};
  }
  if (request.inputs.place() == memory::device) {
    return {reason::unsupported,
            "data in device memory is not divided among devices: leave out the option `devices`"};
  }
  return {};
}

/// Whether a library forms the state of each result, which takes whole arrays only.
bool needs_all_elements(const kernel_launcher& of_batch) {
  return of_batch.batches().least_chunk == batch_fold::never_cut;
}

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
    partial_result all;
    fold_.wait(all);
    return finished(request_, all, result);
  }

 private:
  request request_;
  context context_;
  host_data_fold fold_;
};

}  // namespace

const availability& gpu_backend::probe() const noexcept { return cuda::probe(); }

int gpu_backend::device_count() const noexcept {
  int devices = 0;
  return probe().usable() && cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

support gpu_backend::prepare(request& request) const {
  if (request.own != nullptr) {
    return {reason::unsupported,
            std::string(name()) + " takes your own accumulators in device code only: see fanin/fold.cuh"};
  }
  if (support answer = check_devices(*this, request); !answer.usable()) return answer;
  const kernel_launcher* kernel = find_kernel(request);
  if (request.kind != layout::array) {
    if (request.inputs.place() != memory::device) {
      return {reason::unsupported, std::string(name()) + " reduces " + std::string(to_string(request.kind)) +
                                       " of device memory only: copy the input there"};
    }
    if (kernel != nullptr && kernel->batches().state_bytes == 0) {
      return {reason::unsupported, std::string(name()) + " does not reduce " + std::string(to_string(request.kind))};
    }
    // A plan does not know the mask, which launch_each() refuses then.
    if (kernel != nullptr && needs_all_elements(*kernel) && is_partial(request.inputs, request.nan)) {
      return {reason::unsupported, std::string(name()) + " reduces " + std::string(to_string(request.kind)) +
                                       " only without a mask and without nan = skip"};
    }
    if (request.adds && !row_of(request.what).takes_results) kernel = nullptr;
  }
  request.prepared = kernel;
  support answer = check_offer(*this, request, kernel != nullptr);
  return answer.usable() ? kernel->runs_here() : answer;
}

outcome gpu_backend::reduce(const request& request, void* result) const {
  if (!request.devices.empty()) return reduce_on_devices(request, divided_among_devices(request), result);
  return reduce(request, default_context(device_of(request.inputs)), result);
}

outcome gpu_backend::reduce(const request& request, context& context, void* result) const {
  const device_scope here(context.where().device);
  partial_result all;
  fold_inputs(request, context, all);
  return finished(request, all, result);
}

outcome gpu_backend::reduce_parts(const request& request, std::span<const input_views> parts, void* result) const {
  std::vector<device_part> placed;
  for (const input_views& part : parts) placed.push_back({device_of(part), part});
  return reduce_on_devices(request, placed, result);
}

outcome gpu_backend::reduce_each(const request& request, const batch& many, const results_view& out) const {
  context& here = default_context(device_of(many.inputs));
  const device_scope scope(here.where().device);
  return reduce_batch(request, many, out, here);
}

std::unique_ptr<stream> gpu_backend::open(const request& request) const {
  if (!request.devices.empty()) {
    throw unsupported(std::string(name()) +
                      " does not divide a stream among devices: leave out the option `devices`");
  }
  return std::make_unique<gpu_stream>(request);
}

}  // namespace fanin::cuda
