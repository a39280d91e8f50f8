// Calls of the CUDA runtime that failed become exceptions.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <fanin/error.hpp>

namespace fanin::device_code {

/// Does nothing on success. Otherwise the runtime forgets the error, unless it is one that no call survives.
/// @throws out_of_memory or device_error with `call` and the device's own words
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw out_of_memory(text);
  throw device_error(text);
}

}  // namespace fanin::device_code
