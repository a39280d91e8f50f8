// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda.hpp"

#include <algorithm>
#include <vector>

#include <fanin/device.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/stages/stage_fold.hpp"

namespace fanin::cuda {
namespace {

class work_on_context final : public device_work {
 public:
  work_on_context(const backend& backend, int device, void* stream)
      : backend_(backend), context_(device, static_cast<cudaStream_t>(stream)) {}

  device_times last_times() const noexcept override { return context_.times; }
  execution where(std::size_t scratch_bytes) override {
    const device_scope here(context_.where().device);
    return context_.with_scratch(scratch_bytes);
  }
  outcome reduce(const request& request, void* result) override {
    const device_scope here(context_.where().device);
    return backend_.reduce(request, context_, result);
  }
  void enqueue(const request& request, void* result) override;

 private:
  const backend& backend_;
  context context_;
};

void work_on_context::enqueue(const request& request, void* result) {
  const int device = context_.where().device;
  const device_scope here(device);
  check_inputs_reach(request.inputs, device);
  const std::size_t result_bytes =
      with_result_type(request.what, request.result, [&]<class R>() { return sizeof(device_result<R>); });
  check_reach(result, result_bytes, device, "the result");
  const auto& kernel = *static_cast<const device_fold*>(request.prepared);
  const std::uint64_t count = request.inputs.count(), longest = kernel.host().longest;
  const std::uint64_t states = count / longest + (count % longest != 0 ? 1 : 0);
  if (states > context::state_slots) throw unsupported("the input is too long for a result on the device");
  const execution where =
      states > 0 ? context_.with_scratch(kernel.scratch_bytes(context_.where(), std::min(longest, count)))
                 : context_.where();
  if (states == 1 && kernel.launch_finished(where, operands_at(request.inputs, 0), count, request.result, result)) {
    return;
  }
  for (std::uint64_t i = 0; i < states; ++i) {
    const std::uint64_t begin = i * longest;
    kernel.launch(where, operands_at(request.inputs, begin), std::min(longest, count - begin),
                  context_.device_state(i));
  }
  enqueue_finish(request, context_.device_state(0), states, result, where.stream);
}

}  // namespace

std::span<const variant_info> backend::variants() const noexcept {
  static const std::vector<variant_info> all = [] {
    std::vector<variant_info> rows = {
        {"single-launch", method::fast, "16-byte loads, eight in flight; the last block finishes", ""},
        {"compensated", method::compensated, "the same with every rounding error carried along", ""},
        {"exact", method::exact, "windows in registers, fixed point behind them, rounded once", ""},
    };
    rows.insert(rows.end(), stage_variants().begin(), stage_variants().end());
    return rows;
  }();
  return all;
}

const device_fold* backend::find_kernel(const request& request) const {
  const auto stages = stage_variants();
  if (std::any_of(stages.begin(), stages.end(), [&](const variant_info& v) { return v.name == request.variant; })) {
    return find_stage_fold(request);
  }
  return with_element(request.inputs.type(),
                      [&]<class T>() { return cuda::find_kernel<T>(request.what, request.how); });
}

std::unique_ptr<device_work> backend::open_device(int device, void* stream) const {
  require_usable(*this);
  return std::make_unique<work_on_context>(*this, device, stream);
}

const backend& instance() noexcept {
  static const backend the_backend;
  return the_backend;
}

}  // namespace fanin::cuda
