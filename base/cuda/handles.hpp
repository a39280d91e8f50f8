// SPDX-License-Identifier: Apache-2.0
// Owners of memory, streams and events of the CUDA runtime. Their destructors ignore errors.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include <cuda_runtime_api.h>

#include <fanin/cuda/device_scope.cuh>

namespace fanin::cuda {

using namespace device_code;

template <auto Release>
struct releaser {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(Release(handle));
  }
};
using device_memory = std::unique_ptr<std::byte, releaser<cudaFree>>;
using pinned_memory = std::unique_ptr<std::byte, releaser<cudaFreeHost>>;
using owned_stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, releaser<cudaStreamDestroy>>;
using owned_event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, releaser<cudaEventDestroy>>;

/// While it lives, the calling thread may allocate memory and load kernels although a stream is being captured.
class relaxed_capture {
 public:
  relaxed_capture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~relaxed_capture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

inline device_memory allocate_device(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return device_memory(static_cast<std::byte*>(memory));
}

inline pinned_memory allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  return pinned_memory(static_cast<std::byte*>(memory));
}

inline owned_stream make_stream(unsigned flags) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, flags), "cudaStreamCreateWithFlags");
  return owned_stream(stream);
}

inline owned_event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return owned_event(event);
}

}  // namespace fanin::cuda
