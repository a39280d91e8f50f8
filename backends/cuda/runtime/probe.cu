// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/runtime/probe.hpp"

#include <algorithm>
#include <string>

#include <cuda_runtime_api.h>

#include "base/cuda/handles.hpp"

namespace fanin::cuda {
namespace {

/// The compute capabilities for which this build has code, as 900 for 9.0. Newer devices can translate that code.
constexpr int built_for[] = {__CUDA_ARCH_LIST__};
constexpr int oldest_device = *std::min_element(std::begin(built_for), std::end(built_for)) / 10;

/// An empty kernel, compiled for the same architectures as all others: its attributes contain the architecture.
__global__ void any_kernel() {}

/// The device's compute capability, as 90 for 9.0. @throws device_error
int capability(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct answer {
  reason why = reason::usable;
  std::string detail;
};

answer query_runtime() {
  int driver = 0;
  int runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    return {reason::no_driver, "no NVIDIA driver was found on this machine"};
  }
  cudaRuntimeGetVersion(&runtime);
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaErrorInsufficientDriver) {
    return {reason::too_old, "the NVIDIA driver serves CUDA " + version_text(driver) + ", and this build needs " +
                                 version_text(runtime)};
  }
  if (code != cudaSuccess || devices == 0) {
    const std::string words = code == cudaSuccess ? "none" : cudaGetErrorString(code);
    return {reason::no_device, "the NVIDIA driver offers no usable device: " + words};
  }
  int newest = 0;
  for (int device = 0; device < devices; ++device) {
    newest = std::max(newest, capability(device));
  }
  if (newest < oldest_device) {
    return {reason::too_old, "the newest device has compute capability " + std::to_string(newest / 10) + "." +
                                 std::to_string(newest % 10) + ", and this build needs " +
                                 std::to_string(oldest_device / 10) + "." + std::to_string(oldest_device % 10)};
  }
  return {};
}

}  // namespace

const availability& probe() noexcept {
  static const answer found = [] {
    try {
      const answer result = query_runtime();
      static_cast<void>(cudaGetLastError());
      return result;
    } catch (const error& failure) {
      return answer{reason::no_device, failure.what()};
    }
  }();
  static const availability here{found.why, found.detail};
  return here;
}

bool kernels_are_for_90(int device) {
  const device_scope here(device);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&any_kernel)), "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90;
}

}  // namespace fanin::cuda
