// The loop of a thread over elements that lie a stride apart.
#pragma once

#include <cstdint>

namespace fanin::cuda {

/// take(x[i]), take(x[i + stride]), ... up to `end`. `Batch` loads are under way before the first one is used.
template <unsigned Batch, class Value, class Take>
__device__ void for_each_strided(const Value* x, std::uint64_t i, std::uint64_t end, std::uint64_t stride,
                                 Take take) {
  Value loaded[Batch];
  for (; i + (Batch - 1) * stride < end; i += Batch * stride) {
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) loaded[k] = x[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) take(loaded[k]);
  }
#pragma unroll
  for (unsigned k = 0; k < Batch - 1; ++k) {
    if (i + k * stride < end) loaded[k] = x[i + k * stride];
  }
#pragma unroll
  for (unsigned k = 0; k < Batch - 1; ++k) {
    if (i + k * stride < end) take(loaded[k]);
  }
}

}  // namespace fanin::cuda
