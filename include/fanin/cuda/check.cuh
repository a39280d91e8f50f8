// Turns error codes of the CUDA runtime into exceptions.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <fanin/error.hpp>

namespace fanin::device_code {

/// Returns if `code` is success. Otherwise clears the runtime's last error, so that later calls do not return it
/// again, and throws; errors after which every call fails cannot be cleared.
/// @throws out_of_memory or device_error with `call` and the runtime's message
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw out_of_memory(text);
  throw device_error(text);
}

}  // namespace fanin::device_code
