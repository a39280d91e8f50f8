// The device's half of a reduction: launching the kernels that fold elements into one state.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "backends/cuda/host_fold.hpp"

namespace fanin::cuda {

/// Where a kernel runs, and the memory it may use there. One launch at a time.
struct execution {
  int device = 0;
  int multiprocessors = 1;
  cudaStream_t stream = nullptr;
  unsigned* ticket = nullptr;  ///< in device memory; 0 between launches
  void* scratch = nullptr;     ///< in device memory
  std::size_t scratch_bytes = 0;
};

struct device_fold {
  /// Folds x[0..count), count > 0 elements in device memory, and writes the state to `out`, memory of the device or
  /// pinned host memory. Returns before that is done. @throws device_error
  void (*launch)(const execution& where, const void* x, std::uint64_t count, void* out);
  chain (*longest_chain)(const execution& where, std::uint64_t count);
};

/// The chain where nobody says in which order elements are merged: no order has a longer one.
inline chain any_order(const execution&, std::uint64_t count) { return {0, static_cast<double>(count)}; }

}  // namespace fanin::cuda
