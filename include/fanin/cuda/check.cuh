// Errors of the CUDA runtime as exceptions.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <fanin/error.hpp>

namespace fanin::device_code {

/// Does nothing on success. Otherwise clears the runtime's last error, unless that error is sticky.
/// @throws out_of_memory or device_error with `call` and the runtime's description of the error
inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const std::string text = std::string(call) + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw out_of_memory(text);
  throw device_error(text);
}

}  // namespace fanin::device_code
