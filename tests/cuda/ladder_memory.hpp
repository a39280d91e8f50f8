// SPDX-License-Identifier: Apache-2.0
// Device memory for tests of the ladder, with guard bytes around it.
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/cuda/handles.hpp"

namespace fanin::test {

/// Bytes on the device with guards before and after them.
class device_memory {
 public:
  explicit device_memory(std::size_t bytes) : bytes_(bytes) {
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&base_), bytes + 2 * guard), "cudaMalloc");
    cuda::check(cudaMemset(base_, pattern, guard), "cudaMemset");
    cuda::check(cudaMemset(base_ + guard + bytes, pattern, guard), "cudaMemset");
  }
  ~device_memory() { cudaFree(base_); }
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;

  void* get() const { return base_ + guard; }

  bool guards_intact() const {
    std::vector<unsigned char> both(2 * guard);
    cuda::check(cudaMemcpy(both.data(), base_, guard, cudaMemcpyDeviceToHost), "cudaMemcpy");
    cuda::check(cudaMemcpy(both.data() + guard, base_ + guard + bytes_, guard, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return both == std::vector<unsigned char>(2 * guard, pattern);
  }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr unsigned char pattern = 0xa5;

  std::size_t bytes_;
  unsigned char* base_ = nullptr;
};

}  // namespace fanin::test
