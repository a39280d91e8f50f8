// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fanin/device.hpp>
#include <fanin/error.hpp>

#include "backends/checks.hpp"
#include "backends/cuda/batch/reduce_batch.hpp"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/presence/presence.hpp"
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
  outcome reduce_each(const request& request, const batch& many, const results_view& out) override {
    const device_scope here(context_.where().device);
    return reduce_batch(request, many, out, context_);
  }
  void enqueue_each(const request& request, const batch& many, void* results) override {
    const device_scope here(context_.where().device);
    enqueue_batch(request, many, results, context_);
  }

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
  std::optional<present_copies> copies;
  if (is_partial(request.inputs, request.nan)) copies.emplace(request, context_);
  const std::uint64_t count = request.inputs.count();
  const std::uint64_t longest = std::min(kernel.host().longest, copies ? copies->longest() : ~std::uint64_t{0});
  const execution where =
      count > 0 ? context_.with_scratch(kernel.scratch_bytes(context_.where(), std::min(longest, count)))
                : context_.where();
  if (!copies && count > 0 && count <= longest &&
      kernel.launch_finished(where, operands_at(request.inputs, 0), count, request.result, result)) {
    return;
  }
  state_run run{context_.device_state(0), 0, false};
  for (std::uint64_t begin = 0; begin < count; begin += longest) {
    if (run.count == context::state_slots) {
      enqueue_merge(request, run, where.stream);
      run = {run.states, 1, true};
    }
    const std::uint64_t length = std::min(longest, count - begin);
    kernel.launch(where, copies ? copies->enqueue(begin, length) : operands_at(request.inputs, begin), length,
                  context_.device_state(run.count++));
  }
  enqueue_finish(request, run, copies ? copies->counts() : nullptr, result, where.stream);
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
