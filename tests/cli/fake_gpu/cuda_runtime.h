// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's runtime that the check of a puzzle calls, by the emulation. Each block of a launch takes 10 ns.
#pragma once

#include <unistd.h>
#include <cstring>
#include <new>

#include <fanin/emulate.hpp>

#define alarm(seconds) alarm((seconds) != 0)  // A launch that does not end is stopped after a second.

enum cudaError_t { cudaSuccess, cudaErrorEmulated };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

struct cudaDeviceProp {
  char name[256] = "emulated GPU";
  std::size_t totalGlobalMem = std::size_t{1} << 22;
  int multiProcessorCount = 2;
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
};

using cudaEvent_t = double*;
inline double fake_now = 0;  ///< milliseconds

inline const char* cudaGetErrorString(cudaError_t) { return "the emulation found a fault"; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int) { return *to = {}, cudaSuccess; }
inline cudaError_t cudaMalloc(void** to, std::size_t bytes) { return *to = ::operator new(bytes), cudaSuccess; }
inline cudaError_t cudaFree(void* at) { return ::operator delete(at), cudaSuccess; }
inline cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return std::memset(at, value, bytes), cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return std::memmove(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* to) { return *to = new double(0), cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t one) { return delete one, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t one) { return *one = fake_now, cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* to, cudaEvent_t begin, cudaEvent_t end) {
  return *to = static_cast<float>(*end - *begin), cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* shape, void (*kernel)(Parameters...), Arguments... given) {
  fake_now += 1e-5 * shape->gridDim.x;
  try {
    fanin::emulate::launch(shape->gridDim.x, shape->blockDim.x, [=] { kernel(given...); });
  } catch (const fanin::emulate::fault&) {
    return cudaErrorEmulated;
  }
  return cudaSuccess;
}
