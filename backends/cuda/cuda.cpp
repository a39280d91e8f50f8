// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/cuda.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fanin/device.hpp>
#include <fanin/error.hpp>
#include <fanin/state.hpp>

#include "backends/checks.hpp"
#include "backends/cuda/batch/array_list.hpp"
#include "backends/cuda/batch/groups.hpp"
#include "backends/cuda/batch/reduce_batch.hpp"
#include "backends/cuda/batch/scattered_rows.hpp"
#include "backends/cuda/exact/vector_sums.hpp"
#include "backends/cuda/fold/extremum_keys.hpp"
#include "backends/cuda/fold/finish.hpp"
#include "backends/cuda/fold/lanes.hpp"
#include "backends/cuda/kernels.hpp"
#include "backends/cuda/presence/presence.hpp"
#include "backends/cuda/stages/stage_fold.hpp"
#include "backends/doubles.hpp"

namespace fanin::cuda {
namespace {

/// The device of a call, which may be captured: kernels are loaded when they are launched first, and memory may grow.
struct call_scope {
  explicit call_scope(int device) : on_device(device) {}
  device_scope on_device;
  relaxed_capture relaxed;
};

class work_on_context final : public device_work {
 public:
  work_on_context(const backend& backend, int device, void* stream, const device_allocator* from)
      : backend_(backend), context_(device, static_cast<cudaStream_t>(stream), from) {}

  device_times last_times() const noexcept override { return context_.times; }
  execution where(std::size_t scratch_bytes) override {
    const call_scope here(context_.where().device);
    execution found = context_.with_scratch(scratch_bytes);
    found.host_state = context_.host_state(0);
    return found;
  }
  outcome reduce(const request& request, void* result) override {
    const call_scope here(context_.where().device);
    return backend_.reduce(request, context_, result);
  }
  void enqueue(const request& request, void* result) override;
  void enqueue_lanes(const request& request, std::span<const input_views> arrays, std::int64_t* lanes) override;
  void enqueue_value_of_lanes(const request& request, const std::int64_t* lanes, void* result) override;
  void enqueue_key(operation what, element_type type, const void* result, std::int64_t* key) override {
    const call_scope here(context_.where().device);
    cuda::enqueue_key(what, type, result, key, context_.where());
  }
  void enqueue_value_of_key(element_type type, const std::int64_t* key, void* result) override {
    const call_scope here(context_.where().device);
    cuda::enqueue_value_of_key(type, key, result, context_.where());
  }
  void enqueue_candidate(operation what, element_type type, const void* result, std::uint64_t count,
                         std::int64_t* candidate) override {
    const call_scope here(context_.where().device);
    cuda::enqueue_candidate(what, type, result, count, candidate, context_.where());
  }
  void enqueue_first_candidate(operation what, element_type type, const std::int64_t* candidates, std::size_t number,
                               void* result) override {
    const call_scope here(context_.where().device);
    cuda::enqueue_first_candidate(what, type, candidates, number, result, context_.where());
  }
  void enqueue_vector_sums(const vector_sums& sums, bool on_second_stream) override {
    execution where = context_.where();
    const call_scope here(where.device);
    if (on_second_stream) where.stream = second_stream();
    cuda::enqueue_vector_sums(sums, where, on_second_stream);
  }
  void enqueue_scattered_rows(const scattered_rows& rows) override;
  CUstream_st* second_stream() override {
    context_.prepare_chunks();
    return context_.copy_stream();
  }
  outcome reduce_each(const request& request, const batch& many, const results_view& out) override {
    const call_scope here(context_.where().device);
    return reduce_batch(request, many, out, context_);
  }
  void enqueue_each(std::span<const request> requests, const batch& many,
                    std::span<const results_view> out) override {
    const call_scope here(context_.where().device);
    enqueue_batches(requests, many, out, context_);
  }

 private:
  static const kernel_launcher& launcher_of(const request& request) {
    return *static_cast<const kernel_launcher*>(request.prepared);
  }
  /// The most elements of one fold.
  static std::uint64_t longest_fold(const request& request, const std::optional<present_copies>& copies) {
    return std::min(launcher_of(request).host().longest, copies ? copies->longest() : ~std::uint64_t{0});
  }
  /// The scratch of a fold of up to `longest` elements.
  execution where_for(const request& request, std::uint64_t count) {
    return count > 0 ? context_.with_scratch(launcher_of(request).scratch_bytes(context_.where(), count))
                     : context_.where();
  }
  /// Enqueues folds of up to `longest` elements to states in device memory behind those of a run, and returns the
  /// states that remain. make_room(run) is called when all states are in use, and returns a run with fewer.
  template <class MakeRoom>
  state_run enqueue_folds(const request& request, const input_views& inputs, std::optional<present_copies>& copies,
                          const execution& where, std::uint64_t longest, state_run run, MakeRoom make_room);

  const backend& backend_;
  context context_;
};

std::size_t device_result_bytes(const request& request) {
  return with_result_type(request.what, request.result, [&]<class R>() { return sizeof(device_result<R>); });
}

void work_on_context::enqueue(const request& request, void* result) {
  const int device = context_.where().device;
  const call_scope here(device);
  check_inputs_reach(request.inputs, device);
  check_reach(result, device_result_bytes(request), device, "the result");
  std::optional<present_copies> copies;
  if (is_partial(request.inputs, request.nan)) copies.emplace(request, context_);
  const std::uint64_t count = request.inputs.count(), longest = longest_fold(request, copies);
  const execution where = where_for(request, std::min(longest, count));
  if (!copies && count > 0 && count <= longest &&
      launcher_of(request).launch_finished(where, operands_at(request.inputs, 0), count, request.result, result)) {
    return;
  }
  const state_run none{context_.device_state(0), 0, false};
  const state_run run =
      enqueue_folds(request, request.inputs, copies, where, longest, none, [&](const state_run& full) -> state_run {
        enqueue_merge(request, full, where.stream);
        return {full.states, 1, true};
      });
  enqueue_finish(request, run, copies ? copies->counts() : nullptr, result, where.stream);
}

template <class MakeRoom>
state_run work_on_context::enqueue_folds(const request& request, const input_views& inputs,
                                         std::optional<present_copies>& copies, const execution& where,
                                         std::uint64_t longest, state_run run, MakeRoom make_room) {
  const std::uint64_t count = inputs.count();
  for (std::uint64_t begin = 0; begin < count; begin += longest) {
    if (run.count == context::state_slots) run = make_room(run);
    const std::uint64_t length = std::min(longest, count - begin);
    launcher_of(request).launch(where, copies ? copies->enqueue(begin, length) : operands_at(inputs, begin), length,
                                context_.device_state(run.count++));
  }
  return run;
}

void work_on_context::enqueue_lanes(const request& request, std::span<const input_views> arrays,
                                    std::int64_t* lanes) {
  const int device = context_.where().device;
  const call_scope here(device);
  check_reach(lanes, lane_count(request.what, request.inputs.type()) * sizeof *lanes, device, "the lanes");
  std::uint64_t elements = 0;
  for (const input_views& x : arrays) {
    check_inputs_reach(x, device);
    elements += x.count();
  }
  if (arrays.size() > 1 && elements > 0) return enqueue_lanes_of_list(request, arrays, elements, lanes, context_);
  std::optional<present_copies> copies;
  if (is_partial(request.inputs, request.nan)) copies.emplace(request, context_);
  const std::uint64_t longest = longest_fold(request, copies);
  const execution where = where_for(request, std::min(longest, elements));
  bool goes_on = false;
  const auto write = [&](const state_run& run) -> state_run {
    enqueue_lanes_of(request.what, request.inputs.type(),
                     {run.states, run.count, elements, copies ? copies->counts() : nullptr, goes_on}, lanes, where);
    goes_on = true;
    return {run.states, 0, false};
  };
  const state_run none{context_.device_state(0), 0, false};
  write(enqueue_folds(request, arrays[0], copies, where, longest, none, write));
}

void work_on_context::enqueue_value_of_lanes(const request& request, const std::int64_t* lanes, void* result) {
  const int device = context_.where().device;
  const call_scope here(device);
  const element_type type = request.inputs.type();
  check_reach(lanes, lane_count(request.what, type) * sizeof *lanes, device, "the lanes");
  check_reach(result, device_result_bytes(request), device, "the result");
  cuda::enqueue_value_of_lanes(request.what, type, lanes, request.result, result, context_.where());
}

void work_on_context::enqueue_scattered_rows(const scattered_rows& rows) {
  const int device = context_.where().device;
  const call_scope here(device);
  const std::size_t row_bytes = rows.columns * byte_size(rows.type);
  check_inputs_reach(array_view(rows.x, rows.keys.count * rows.columns, rows.type, memory::device), device);
  if (rows.base != nullptr) {
    check_inputs_reach(array_view(rows.base, rows.groups * rows.columns, rows.type, memory::device), device);
  }
  check_reach(rows.keys.data, rows.keys.bytes(), device, "the keys");
  check_reach(rows.out, rows.groups * row_bytes, device, "the results");
  cuda::enqueue_scattered_rows(rows, context_);
}

}  // namespace

std::span<const variant_info> backend::variants() const noexcept {
  static const std::vector<variant_info> all = [] {
    std::vector<variant_info> rows = {
        {"single-launch", method::fast, "16-byte loads, eight in flight; the last block merges all blocks", ""},
        {"compensated", method::compensated, "as above, and the rounding errors are added up too", ""},
        {"exact", method::exact, "windows in registers, then fixed point, rounded once", ""},
    };
    rows.insert(rows.end(), stage_variants().begin(), stage_variants().end());
    return rows;
  }();
  return all;
}

const kernel_launcher* backend::find_kernel(const request& request) const {
  const auto stages = stage_variants();
  if (std::any_of(stages.begin(), stages.end(), [&](const variant_info& v) { return v.name == request.variant; })) {
    return find_stage_fold(request);
  }
  if (is_taken_as_f64(request.what, request.inputs.type(), request.inputs.place())) return nullptr;
  const method how = request.kind == layout::groups ? method_of_groups(request) : request.method;
  return with_element(request.inputs.type(), [&]<class T>() { return cuda::find_kernel<T>(request.what, how); });
}

std::unique_ptr<device_work> backend::open_device(int device, void* stream, const device_allocator* from) const {
  require_usable(*this);
  return std::make_unique<work_on_context>(*this, device, stream, from);
}

const backend& instance() noexcept {
  static const backend the_backend;
  return the_backend;
}

}  // namespace fanin::cuda
