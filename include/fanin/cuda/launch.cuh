// SPDX-License-Identifier: Apache-2.0
// Programmatic launches: a kernel may be launched before the preceding kernel of the stream has ended.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include <fanin/cuda/check.cuh>
#include <fanin/cuda/execution.hpp>

namespace fanin::device_code {

/// Launches a kernel, which has to call overlap_with_next_launch() before it touches device memory.
/// @throws device_error
template <class... Parameters, class... Arguments>
void launch_overlapped(const execution& where, unsigned blocks, int threads, std::size_t shared_bytes,
                       void (*kernel)(Parameters...), const Arguments&... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t shape{};
  shape.gridDim = dim3(blocks);
  shape.blockDim = dim3(static_cast<unsigned>(threads));
  shape.dynamicSmemBytes = shared_bytes;
  shape.stream = where.stream;
  shape.attrs = &overlap;
  shape.numAttrs = where.programmatic ? 1 : 0;
  check(cudaLaunchKernelEx(&shape, kernel, arguments...), "launching a reduction");
}

}  // namespace fanin::device_code
