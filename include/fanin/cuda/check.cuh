// SPDX-License-Identifier: Apache-2.0
// Errors of the CUDA runtime as exceptions.
#pragma once

#include <cstddef>
#include <string>

#include <cuda_runtime_api.h>

#include <fanin/error.hpp>

namespace fanin::device_code {

/// Returns a text that says how much memory of the current device is free, and what to do. If the runtime does not
/// answer, the text says that no memory is left even for the runtime.
inline std::string advice_on_memory() {
  std::size_t free_bytes = 0, all_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return "; the device has no memory left even for the runtime: free some, or choose a CPU backend";
  }
  return "; " + std::to_string(free_bytes >> 20) + " of the device's " + std::to_string(all_bytes >> 20) +
         " MiB are free: free more, or choose a CPU backend";
}

/// Does nothing on success. Otherwise clears the runtime's last error, unless that error is sticky.
/// @throws out_of_memory or device_error with `call` and the runtime's description of the error
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw out_of_memory(text + advice_on_memory());
  throw device_error(text);
}

/// Checks that kernels on `device` can use the `bytes` bytes at `data`. These bytes are in memory of the device,
/// managed memory or pinned host memory. Without the check a kernel would fail, and then every later call of the
/// process would fail, too. The check takes 75 ns for each of the two ends of the memory (on the host of an H200).
/// @throws invalid_argument if kernels cannot use the bytes
inline void check_reach(const void* data, std::size_t bytes, int device, const char* what) {
  if (bytes == 0) return;
  for (const void* end : {data, static_cast<const void*>(static_cast<const char*>(data) + bytes - 1)}) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, end), "cudaPointerGetAttributes");
    if (attributes.type == cudaMemoryTypeUnregistered) {
      throw invalid_argument(std::string(what) + " is said to be device memory, but " +
                             (end == data ? "its address is not known to any device" : "is shorter than its count"));
    }
    if (attributes.type == cudaMemoryTypeDevice && attributes.device != device) {
      throw invalid_argument(std::string(what) + " is in the memory of device " + std::to_string(attributes.device) +
                             ", and the call is for device " + std::to_string(device));
    }
  }
}

}  // namespace fanin::device_code
