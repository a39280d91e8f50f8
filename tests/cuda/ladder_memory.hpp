// Device memory for tests: guard bytes around it, and whether there is a device at all.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "backends/cuda/check.hpp"

namespace fanin::test {

/// Whether there is a device. If not, says so in the words that ctest takes for a skipped test, or fails if the
/// environment variable FANIN_REQUIRE_BACKENDS names cuda.
inline bool device_is_there() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return true;
  const char* required = std::getenv("FANIN_REQUIRE_BACKENDS");
  if (required != nullptr && ("," + std::string(required) + ",").find(",cuda,") != std::string::npos)
    FAIL("cuda is required, and there is no device");
  std::puts("fanin: skipped: there is no CUDA device");
  return false;
}

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
