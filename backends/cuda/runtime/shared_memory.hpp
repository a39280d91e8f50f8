// SPDX-License-Identifier: Apache-2.0
// The size of a block's shared memory, as the host sets it.
#pragma once

#include <cstddef>

#include <fanin/cuda/check.cuh>

namespace fanin::cuda {

/// The most shared memory that a block may have on the device. @throws device_error
inline std::size_t most_shared_bytes(int device) {
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute");
  return static_cast<std::size_t>(bytes);
}

/// Lets blocks of the kernel have so much dynamic shared memory. @throws device_error
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
}

}  // namespace fanin::cuda
