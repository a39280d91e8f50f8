// SPDX-License-Identifier: Apache-2.0
// The GPU part of `fanin device`.
#include <vector>

#include <fmt/format.h>

#include "base/cuda/handles.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/facts.hpp"
#include "measure/device.hpp"

namespace fanin::cli {

namespace {

using cuda::check;

/// An attribute of the device. CUDA 13 removed some of the attributes from cudaDeviceProp.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// The 32-bit floating-point units per multiprocessor, from the compute capabilities in the CUDA programming guide:
/// no CUDA call returns them. Null for later compute capabilities.
json cores_per_multiprocessor(int major, int minor) {
  switch (10 * major + minor) {
    case 75:
    case 80:
      return 64;
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 110:
    case 120:
    case 121:
      return 128;
    default:
      return nullptr;
  }
}

std::string_view compute_mode(int mode) {
  switch (mode) {
    case cudaComputeModeDefault:
      return "default: any number of processes";
    case cudaComputeModeProhibited:
      return "prohibited";
    case cudaComputeModeExclusiveProcess:
      return "exclusive: one process";
    default:
      return "unknown";
  }
}

std::vector<fact> property_facts(int device, const cudaDeviceProp& p) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  const json cores = cores_per_multiprocessor(p.major, p.minor);
  const auto kilohertz = [&](cudaDeviceAttr which) { return 1e3 * attribute(which, device); };
  return {{"name", std::string(p.name)},
          {"compute capability", fmt::format("{}.{}", p.major, p.minor)},
          {"CUDA of the driver", version_text(driver)},
          {"CUDA of this build", version_text(runtime)},
          {"multiprocessors", p.multiProcessorCount},
          {"cores per multiprocessor", cores},
          {"cores", cores.is_null() ? cores : json(cores.get<int>() * p.multiProcessorCount)},
          {"fastest clock", kilohertz(cudaDevAttrClockRate), unit::hertz},
          {"global memory", p.totalGlobalMem, unit::bytes},
          {"memory clock", kilohertz(cudaDevAttrMemoryClockRate), unit::hertz},
          {"memory bus width", p.memoryBusWidth, unit::bits},
          {"L2 cache", p.l2CacheSize, unit::bytes},
          {"constant memory", p.totalConstMem, unit::bytes},
          {"shared memory per block", p.sharedMemPerBlock, unit::bytes},
          {"shared memory per block at most", p.sharedMemPerBlockOptin, unit::bytes},
          {"shared memory per multiprocessor", p.sharedMemPerMultiprocessor, unit::bytes},
          {"registers per block", p.regsPerBlock},
          {"registers per multiprocessor", p.regsPerMultiprocessor},
          {"warp size", p.warpSize},
          {"threads per block at most", p.maxThreadsPerBlock},
          {"threads per multiprocessor at most", p.maxThreadsPerMultiProcessor},
          {"warps per block at most", p.maxThreadsPerBlock / p.warpSize},
          {"warps per multiprocessor at most", p.maxThreadsPerMultiProcessor / p.warpSize},
          {"blocks per multiprocessor at most", p.maxBlocksPerMultiProcessor},
          {"block at most", {p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]}},
          {"grid at most", {p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]}},
          {"concurrent kernels", p.concurrentKernels != 0},
          {"copy engines", p.asyncEngineCount},
          {"ECC", p.ECCEnabled != 0},
          {"compute mode", std::string(compute_mode(attribute(cudaDevAttrComputeMode, device)))}};
}

std::vector<fact> facts_of(int device) {
  constexpr std::size_t bytes = std::size_t{1} << 28;
  constexpr double budget_seconds = 0.3;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::vector<fact> facts = property_facts(device, properties);
  const double theoretical = 2e3 * attribute(cudaDevAttrMemoryClockRate, device) * properties.memoryBusWidth / 8;

  const cuda::device_scope here(device);
  const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
  const auto rate = [&](std::string name, double seconds) {
    facts.push_back({std::move(name), static_cast<double>(bytes) / seconds / 1e9, unit::gigabytes_per_second});
  };
  facts.push_back({"theoretical bandwidth", theoretical / 1e9, unit::gigabytes_per_second});
  const std::vector<std::int32_t> zeros(bytes / sizeof(std::int32_t));
  const measure::rotated_input input{array_view(std::span(zeros))};
  rate("measured read", measure::device_read_seconds(input, stream.get(), budget_seconds));
  rate("measured copy from pinned memory", measure::pinned_copy_seconds(bytes, stream.get(), budget_seconds));
  rate("measured copy from pageable memory", measure::pageable_copy_seconds(bytes, stream.get(), budget_seconds));
  return facts;
}

}  // namespace

std::vector<std::vector<fact>> gpu_facts() {
  std::vector<std::vector<fact>> all;
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  for (int device = 0; device < devices; ++device) all.push_back(facts_of(device));
  return all;
}

}  // namespace fanin::cli
