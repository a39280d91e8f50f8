#include "backends/cuda/probe.hpp"

#include <algorithm>
#include <string>

#include <cuda_runtime_api.h>

namespace fanin::cuda {
namespace {

/// 10 * major + minor of the oldest device that this build has code for; newer ones can translate it.
constexpr int oldest_device = [] {
  constexpr int built_for[] = {__CUDA_ARCH_LIST__};
  return *std::min_element(std::begin(built_for), std::end(built_for)) / 10;
}();

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct answer {
  reason why = reason::usable;
  std::string detail;
};

answer look() {
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
    int major = 0;
    int minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    newest = std::max(newest, 10 * major + minor);
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
    const answer seen = look();
    static_cast<void>(cudaGetLastError());
    return seen;
  }();
  static const availability here{found.why, found.detail};
  return here;
}

}  // namespace fanin::cuda
