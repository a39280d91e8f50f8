// SPDX-License-Identifier: Apache-2.0
// The table, and running one of its rows. No kernel is compiled here.
#include "backends/cuda/stages/ladder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <cuda_runtime_api.h>

#include <fanin/error.hpp>

#include <fanin/cuda/check.cuh>
#include "backends/cuda/stages/all.cuh"
#include "backends/cuda/stages/ladder_row.cuh"

namespace fanin::cuda {
namespace {

template <class... Stages>
std::vector<stage_info> make_rows(stage_list<Stages...>) {
  std::vector<stage_info> rows = {make_row<Stages>()...};
  const std::vector<stage_kernels> kernels[] = {ladder_kernels<float>(), ladder_kernels<double>(),
                                                ladder_kernels<std::int32_t>()};
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t type = 0; type < std::size(kernels); ++type) rows[i].kernels[type] = kernels[type][i];
  return rows;
}

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

constexpr std::uint64_t quotient_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

std::string version(int architecture) {
  return std::to_string(architecture / 10) + "." + std::to_string(architecture % 10);
}

cudaFuncAttributes attributes_of(const stage_plan& plan) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, plan.kernel()), "cudaFuncGetAttributes");
  return attributes;
}

void require_device(const stage_plan& plan) {
  const std::string name(plan.stage->text.name);
  const int needed = plan.code->architecture;
  const int there =
      10 * device_attribute(cudaDevAttrComputeCapabilityMajor) + device_attribute(cudaDevAttrComputeCapabilityMinor);
  if (there < needed) {
    throw unsupported("stage " + name + " needs compute capability " + version(needed) + "; this device has " +
                      version(there));
  }
  const cudaFuncAttributes attributes = attributes_of(plan);
  if (attributes.ptxVersion < needed)
    throw unsupported("stage " + name + " was not compiled for compute capability " + version(needed));
  const auto shared = static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (attributes.sharedSizeBytes + plan.shared_bytes > shared) {
    throw unsupported("stage " + name + " needs more shared memory than the " + std::to_string(shared) +
                      " bytes that this device gives a block");
  }
  if (plan.stage->cooperative && device_attribute(cudaDevAttrCooperativeLaunch) == 0)
    throw unsupported("stage " + name + " needs a device with cooperative launches");
}

unsigned fitting_blocks(const stage_plan& plan) {
  constexpr std::size_t without_asking = 48 * 1024;
  if (plan.shared_bytes > without_asking) {
    check(cudaFuncSetAttribute(plan.kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(plan.shared_bytes)),
          "cudaFuncSetAttribute");
  }
  int blocks = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plan.kernel(), static_cast<int>(plan.block_size),
                                                      plan.shared_bytes),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  return static_cast<unsigned>(blocks);
}

/// The runtime's answers about a kernel. The runtime is asked once for each device and block size, because an
/// answer takes microseconds.
struct residence {
  unsigned blocks_per_multiprocessor;
  unsigned multiprocessors;
};

residence residence_of(const stage_plan& plan) {
  using key = std::tuple<const void*, int, unsigned>;
  static std::mutex mutex;
  static std::map<key, residence> known;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  const key wanted(plan.kernel(), device, plan.block_size);
  const std::lock_guard lock(mutex);
  const auto found = known.find(wanted);
  if (found != known.end()) return found->second;
  require_device(plan);
  const residence answer{fitting_blocks(plan),
                         static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount))};
  known.emplace(wanted, answer);
  return answer;
}

unsigned finish_threads(std::uint64_t partials) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(quotient_up(partials, 32) * 32, 32, most_threads));
}

/// An element passes through its thread's additions (at most one vector more for each tile than its even share, and
/// the two ends of the array), ten levels of the block's tree, and the same again where the partials are folded.
std::uint64_t longest_chain(const stage_plan& plan, std::uint64_t tiles, unsigned tile) {
  const std::uint64_t in_thread = quotient_up(tiles, plan.blocks) * (quotient_up(tile, plan.block_size) + 3) + 2;
  const unsigned folding = plan.stage->ending == stage_ending::second_step ? finish_threads(plan.blocks)
                           : plan.stage->ending == stage_ending::none      ? plan.block_size
                                                                           : 1;
  return in_thread + 10 + quotient_up(plan.blocks, folding) + 10;
}

std::size_t partials_offset() { return aligned(sizeof(unsigned)); }
std::size_t copy_offset(const stage_plan& plan) {
  return partials_offset() + aligned(std::size_t{plan.blocks} * plan.state_bytes);
}

std::byte* at(void* base, std::size_t offset) { return static_cast<std::byte*>(base) + offset; }

void launch(const void* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, bool cooperative,
            void** arguments, void* stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &attribute;
  config.numAttrs = cooperative ? 1 : 0;
  check(cudaLaunchKernelExC(&config, kernel, arguments), "cudaLaunchKernelExC");
}

void launch_finish(const stage_plan& plan, const void* partials, std::uint64_t count, void* state, void* stream) {
  void* arguments[] = {&partials, &count, &state};
  launch(plan.code->finish, 1, finish_threads(count), 0, false, arguments, stream);
}

}  // namespace

const stage_kernel& stage_info::at(operation what, element_type type) const {
  static constexpr stage_kernel none;
  const auto t = std::ranges::find(ladder_types, type) - std::begin(ladder_types);
  const auto w = std::ranges::find(ladder_operations, what) - std::begin(ladder_operations);
  if (t == std::ssize(ladder_types) || w == std::ssize(ladder_operations)) return none;
  return kernels[static_cast<std::size_t>(t)][static_cast<std::size_t>(w)];
}

std::span<const stage_info> stages() {
  static const std::vector<stage_info> rows = make_rows(all_stages());
  return rows;
}

const stage_info& find_stage(std::string_view name) {
  const auto all = stages();
  const auto found = std::find_if(all.begin(), all.end(), [&](const stage_info& s) { return s.text.name == name; });
  if (found == all.end()) throw invalid_argument("there is no stage named '" + std::string(name) + "'");
  return *found;
}

stage_plan plan_stage(const stage_info& stage, operation what, element_type type, std::uint64_t count,
                      unsigned block_size) {
  const stage_kernel& code = stage.at(what, type);
  if (code.architecture == 0) {
    throw unsupported("stage " + std::string(stage.text.name) + " has no " + std::string(to_string(what)) + " of " +
                      std::string(to_string(type)));
  }
  if (block_size > most_threads) throw invalid_argument("a block has at most 1024 threads");
  if (count > code.longest) {
    throw invalid_argument("a stage folds at most " + std::to_string(code.longest) + " elements of " +
                           std::string(to_string(type)) + " into one " + std::string(to_string(what)));
  }

  stage_plan plan{};
  plan.stage = &stage;
  plan.code = &code;
  plan.count = count;
  plan.block_size = stage.rounded((block_size == 0 ? stage.block_size : block_size + 31) / 32 * 32);
  plan.state_bytes = code.state_bytes;
  plan.shared_bytes = stage.shared_bytes(plan.block_size, code.state_bytes);
  const residence fits = residence_of(plan);
  plan.blocks_per_multiprocessor = fits.blocks_per_multiprocessor;

  const unsigned tile = stage.tile(plan.block_size, static_cast<unsigned>(byte_size(type)));
  const std::uint64_t tiles = std::max<std::uint64_t>(quotient_up(count, tile), 1);
  std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  if (stage.resident) {
    most = std::uint64_t{fits.blocks_per_multiprocessor} * fits.multiprocessors;
  } else if (tiles > most) {
    throw unsupported("stage " + std::string(stage.text.name) + " needs more blocks than a grid has");
  }
  plan.blocks = static_cast<unsigned>(std::min(tiles, most));
  plan.chain = longest_chain(plan, tiles, tile);
  plan.workspace_bytes = copy_offset(plan) + (stage.in_place ? count * plan.state_bytes : 0);
  return plan;
}

void prepare_stage(const stage_plan& plan, const void* data, void* workspace, void* stream) {
  check(cudaMemsetAsync(workspace, 0, sizeof(unsigned), static_cast<cudaStream_t>(stream)), "cudaMemsetAsync");
  if (!plan.stage->in_place || plan.count == 0) return;
  std::uint64_t count = plan.count;
  void* copy = at(workspace, copy_offset(plan));
  void* arguments[] = {&data, &count, &copy};
  constexpr unsigned threads = 256, most_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(quotient_up(count, threads), most_blocks));
  launch(plan.code->copy, blocks, threads, 0, false, arguments, stream);
}

void run_stage(const stage_plan& plan, const void* data, void* workspace, void* state, long long* cycles,
               void* stream) {
  // These are the kernel's stage_arguments, with pointers to void.
  basic_stage_arguments<void, void> a{};
  a.data = data;
  a.count = plan.count;
  a.copy = plan.stage->in_place ? at(workspace, copy_offset(plan)) : nullptr;
  a.partials = at(workspace, partials_offset());
  a.result = state;
  a.arrivals = static_cast<unsigned*>(workspace);
  a.cycles = cycles;
  static_assert(sizeof a == sizeof(basic_stage_arguments<float, float>));
  void* arguments[] = {&a};

  if (plan.stage->ending == stage_ending::atomics) launch_finish(plan, a.partials, 0, state, stream);
  launch(plan.kernel(), plan.blocks, plan.block_size, plan.shared_bytes, plan.stage->cooperative, arguments, stream);
  if (plan.stage->ending == stage_ending::second_step) launch_finish(plan, a.partials, plan.blocks, state, stream);
}

scalar stage_value(const stage_plan& plan, const void* state) { return plan.code->value(state, plan.count); }

stage_resources resources_of(const stage_plan& plan) {
  const cudaFuncAttributes attributes = attributes_of(plan);
  int grid = 0, block = 0;
  check(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plan.kernel(), plan.shared_bytes),
        "cudaOccupancyMaxPotentialBlockSize");
  return {attributes.numRegs, attributes.sharedSizeBytes, attributes.localSizeBytes, static_cast<unsigned>(block)};
}

}  // namespace fanin::cuda
