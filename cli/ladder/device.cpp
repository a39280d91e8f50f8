// SPDX-License-Identifier: Apache-2.0
// Checks and measures the stages of the ladder on a device.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nvtx3/nvtx3.hpp>

#include <fanin/device.hpp>

#include "backends/cuda/gpu_backend.hpp"
#include "backends/cuda/stages/ladder.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/ladder/ladder.hpp"
#include "measure/device.hpp"
#include "measure/timing.hpp"
#include "oracle/random_input.hpp"
#include "oracle/truth.hpp"

namespace fanin::cli {

namespace {

constexpr double seconds_per_row = 0.1;

bool serves(const cuda::stage_info& stage, operation what) {
  return std::ranges::any_of(cuda::ladder_types,
                             [&](element_type type) { return stage.at(what, type).architecture > 0; });
}

/// The stages that the question names. If it names none, these are the stages that serve its operation.
std::vector<const cuda::stage_info*> chosen_stages(const ladder_question& question) {
  const std::vector<std::string>& names = question.stages;
  std::vector<std::string_view> known;
  std::vector<const cuda::stage_info*> chosen;
  for (const cuda::stage_info& stage : cuda::stages()) {
    known.push_back(stage.text.name);
    const bool is_chosen =
        names.empty() ? serves(stage, question.what) : std::ranges::find(names, known.back()) != names.end();
    if (is_chosen) chosen.push_back(&stage);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      throw usage_error(fmt::format("unknown stage '{}'{}", printable(name), detail::suggestion(name, known)));
  }
  return chosen;
}

/// A verifier judges values by the exact result, CUB's and Thrust's. A rounded sum of floats has to keep its error
/// bound; its sum of a second input, whose partial sums are exact in any order, has to equal the exact sum, CUB's and
/// Thrust's. Values of integers have to be equal to the three references.
class verifier {
 public:
  verifier(operation what, const array_view& x) : truth_(what, x, default_threads()), rounds_(is_floating(x.type)) {}
  const scalar& exact() const { return truth_.rounded(); }
  /// Whether the first input's sum is rounded, so that the second input is needed.
  bool rounds() const { return rounds_; }
  /// Sets the three references: results of the second input if rounds(), else of the input.
  void set_references(const scalar& exact, const scalar& cub, const scalar& thrust) {
    comparable_ = exact, cub_ = cub, thrust_ = thrust;
  }

  void judge(ladder_row& row, const scalar& value, const error_bound& bound, const scalar& comparable) const {
    const auto equal = [&](const scalar& other) {
      return comparable == other ? oracle::promise::kept : oracle::promise::broken;
    };
    row.exact = equal(comparable_);
    row.cub = equal(cub_);
    row.thrust = equal(thrust_);
    if (!rounds_) return;
    if (truth_.judge(value, {"", {"", method::fast, row.reproducibility, bound}}) == oracle::promise::broken) {
      row.exact = oracle::promise::broken;
    }
  }

 private:
  oracle::truth truth_;
  bool rounds_;
  scalar comparable_, cub_, thrust_;
};

/// A ladder_run measures one input on one device. All its work is enqueued on one stream.
class ladder_run {
 public:
  /// `exact` is the second input, whose partial sums are exact in any order.
  ladder_run(const ladder_question& question, const array_view& x, const array_view& exact)
      : question_(question),
        context_(question.device),
        launches_(question.device, stream()),
        here_(question.device),
        input_(x),
        request_{question.what, input_.at(0), method::fast, default_result(question.what, question.type), "", 1},
        verifier_(question.what, x) {
    cuda::check(cudaGetDeviceProperties(&device_, question.device), "cudaGetDeviceProperties");
    const std::size_t bytes = 2 * static_cast<std::size_t>(device_.l2CacheSize);
    other_data_ = cuda::allocate_device(bytes);
    cuda::check(cudaMemset(other_data_.get(), 0, bytes), "cudaMemset");
    result_ = cuda::allocate_device(sizeof(device_result<std::int64_t>));
    if (verifier_.rounds()) exact_input_.emplace(exact);
    const array_view same = exact_input_ ? exact : x;
    verifier_.set_references(reduce(question.what, same, {.backend = "serial"}).value,
                             result_of("cub", comparable()).value, result_of("thrust", comparable()).value);
  }

  std::string device_name() const { return device_.name; }
  const scalar& exact() const { return verifier_.exact(); }
  double ceiling_seconds() const { return measure::device_read_seconds(input_, stream(), 3 * seconds_per_row); }

  /// @throws unsupported
  ladder_row measure_stage(const cuda::stage_info& stage) {
    const auto plan = plan_stage(stage, question_.what, question_.type, question_.count, question_.block_size);
    const auto workspace = cuda::allocate_device(plan.workspace_bytes);
    const auto state = cuda::allocate_device(plan.state_bytes);
    const auto prepare = [&](std::size_t i) { prepare_stage(plan, input_.at(i).data, workspace.get(), stream()); };
    const auto run = [&](std::size_t i, long long* cycles = nullptr) {
      run_stage(plan, input_.at(i).data, workspace.get(), state.get(), cycles, stream());
    };
    const auto value_of = [&](const array_view& x) {
      const nvtx3::scoped_range in_a_profile{std::string(stage.text.name)};
      // The memory may have been freed by the stage before, and then contains that stage's result.
      cuda::check(cudaMemsetAsync(state.get(), 0xff, plan.state_bytes, stream()), "cudaMemsetAsync");
      prepare_stage(plan, x.data, workspace.get(), stream());
      run_stage(plan, x.data, workspace.get(), state.get(), nullptr, stream());
      return value_in(plan, state.get());
    };
    ladder_row row{};
    row.number = stage.text.number;
    row.name = stage.text.name;
    row.builds_on = stage.text.builds_on;
    row.reproducibility = verifier_.rounds() ? stage.reproducibility : reproducibility::exact;
    row.footprint = footprint_of(plan);

    try {
      verifier_.judge(row, value_of(input_.at(0)), plan.bound(), value_of(comparable()));
    } catch (const overflow&) {
      row.exact = row.cub = row.thrust = oracle::promise::broken;
    }
    prepare(0);
    if (row.verified() == oracle::promise::broken) return row;
    row.seconds = stage.in_place
                      ? measure::device_median_seconds(
                            stream(), [&](std::size_t i) { prepare(i), read_other_data(); }, run, seconds_per_row)
                      : measure::device_median_seconds(stream(), run, seconds_per_row);
    if (!question_.cycles) return row;
    const auto cycles = cuda::allocate_device(plan.blocks * sizeof(long long));
    prepare(0);
    run(0, reinterpret_cast<long long*>(cycles.get()));
    row.cycles = median_of(cycles.get(), plan.blocks);
    return row;
  }

  ladder_row measure_backend(std::string_view backend_name) {
    const result<scalar> reached = result_of(backend_name, input_.at(0));
    ladder_row row{};
    row.name = backend_name;
    row.reproducibility = reached.report.reproducibility;
    verifier_.judge(row, reached.value, reached.report.bound, result_of(backend_name, comparable()).value);
    if (row.verified() == oracle::promise::broken) return row;
    cuda::context& internals = launches_;
    const auto& kernel = *backend_called(backend_name).find_kernel(request_);
    const auto launch_to = [&](std::byte* state) {
      return [&, state](std::size_t i) {
        kernel.launch(internals.where(), {input_.at(i).data}, question_.count, state);
      };
    };
    if (backend_name == "cuda") {
      const auto run = [&](std::size_t i) { enqueue(question_.what, input_.at(i), result_.get(), context_); };
      row.seconds = measure::device_median_seconds(stream(), run, seconds_per_row);
    } else if (backend_name == "thrust") {
      // Thrust synchronizes with the stream, and its result passes through the host.
      row.seconds = measure::host_median_seconds(launch_to(internals.host_state(0)), seconds_per_row);
    } else {
      row.seconds = measure::device_median_seconds(stream(), launch_to(internals.device_state(0)), seconds_per_row);
    }
    return row;
  }

 private:
  cudaStream_t stream() const { return static_cast<cudaStream_t>(context_.stream()); }

  static const cuda::gpu_backend& backend_called(std::string_view name) {
    return static_cast<const cuda::gpu_backend&>(find_backend(name));
  }
  result<scalar> result_of(std::string_view backend_name, const array_view& x) {
    return reduce(question_.what, x, {.backend = backend_name, .method = method::fast});
  }
  array_view comparable() const { return exact_input_ ? exact_input_->at(0) : input_.at(0); }

  stage_footprint footprint_of(const cuda::stage_plan& plan) const {
    const cuda::stage_resources used = resources_of(plan);
    const double threads = plan.blocks_per_multiprocessor * plan.block_size;
    return {plan.block_size, plan.blocks, used.registers, used.static_shared_bytes + plan.shared_bytes,
            threads / device_.maxThreadsPerMultiProcessor};
  }

  scalar value_in(const cuda::stage_plan& plan, const void* state) const {
    cuda::state_buffer copy;
    cuda::check(cudaMemcpyAsync(copy.bytes, state, plan.state_bytes, cudaMemcpyDeviceToHost, stream()),
                "cudaMemcpyAsync");
    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    return stage_value(plan, copy.bytes);
  }

  /// Reads twice the size of the L2 cache, so that none of the input stays in the cache.
  void read_other_data() {
    const auto* const data = reinterpret_cast<const std::int32_t*>(other_data_.get());
    const auto count = 2 * static_cast<std::size_t>(device_.l2CacheSize) / sizeof(std::int32_t);
    enqueue(operation::max, device_span(data, count), result_.get(), context_);
  }

  double median_of(const void* cycles, std::size_t blocks) const {
    std::vector<long long> counted(blocks);
    cuda::check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    cuda::check(cudaMemcpy(counted.data(), cycles, blocks * sizeof(long long), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return measure::median({counted.begin(), counted.end()});
  }

  const ladder_question& question_;
  device_context context_;
  cuda::context launches_;  ///< on the same stream, for kernels launched directly
  cuda::device_scope here_;
  measure::rotated_input input_;
  std::optional<measure::rotated_input> exact_input_;
  request request_;
  verifier verifier_;
  cudaDeviceProp device_{};
  cuda::device_memory other_data_, result_;
};

}  // namespace

ladder measure_ladder(const ladder_question& question) {
  const std::vector<const cuda::stage_info*> stages = chosen_stages(question);
  const plan usable(question.what, question.type, {.backend = "cuda"});

  progress line("ladder: random input and its exact value");
  const oracle::random_input x(question.what, question.type, question.count);
  const oracle::random_input exact(question.what, question.type, question.count, oracle::terms::exact);
  ladder_run run(question, x.view(), exact.view());
  line.set_task("ladder: read ceiling");
  ladder all{question, run.device_name(), run.exact(), run.ceiling_seconds(), {}, {}};
  for (const cuda::stage_info* stage : stages) {
    line.set_task(fmt::format("ladder: {}", stage->text.name));
    try {
      all.rows.push_back(run.measure_stage(*stage));
    } catch (const unsupported& refusal) {
      if (!question.stages.empty()) throw;
      all.left_out.emplace_back(stage->text.name, refusal.what());
    } catch (const out_of_memory& failure) {
      all.left_out.emplace_back(stage->text.name, failure.what());
    }
  }
  for (const std::string_view name : {"cuda", "cub", "thrust"}) {
    line.set_task(fmt::format("ladder: {}", name));
    all.rows.push_back(run.measure_backend(name));
  }
  return all;
}

}  // namespace fanin::cli
