// The loop of a thread over elements that lie a stride apart.
#pragma once

#include <cstdint>
#include <type_traits>

namespace fanin::device_code {

/// Calls take(x[i]), take(x[i + stride]), ... for indices below `end`, with the index as a second argument if `take`
/// has one. `Batch` loads are in flight before the first value is used.
template <unsigned Batch, class Value, class Take>
__device__ void for_each_strided(const Value* x, std::uint64_t i, std::uint64_t end, std::uint64_t stride,
                                 Take take) {
  Value loaded[Batch];
  const auto call = [&](unsigned k) {
    if constexpr (std::is_invocable_v<Take, const Value&, std::uint64_t>) {
      take(loaded[k], i + k * stride);
    } else {
      take(loaded[k]);
    }
  };
  for (; i + (Batch - 1) * stride < end; i += Batch * stride) {
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) loaded[k] = x[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) call(k);
  }
  if constexpr (Batch > 1) {
#pragma unroll
    for (unsigned k = 0; k < Batch - 1; ++k) {
      if (i + k * stride < end) loaded[k] = x[i + k * stride];
    }
#pragma unroll
    for (unsigned k = 0; k < Batch - 1; ++k) {
      if (i + k * stride < end) call(k);
    }
  }
}

}  // namespace fanin::device_code
