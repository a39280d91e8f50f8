// SPDX-License-Identifier: Apache-2.0
// The loop of a thread over elements that lie a stride apart.
#pragma once

#include <cstdint>

namespace fanin::device_code {

/// Calls take(load(i), i), take(load(i + stride), i + stride), ... for indices below `end`. `Batch` loads are in
/// flight before the first value is used.
template <unsigned Batch, class Load, class Take>
__device__ void for_each_loaded(Load load, std::uint64_t i, std::uint64_t end, std::uint64_t stride, Take take) {
  decltype(load(i)) loaded[Batch];
  const auto call = [&](unsigned k) { take(loaded[k], i + k * stride); };
  for (; i + (Batch - 1) * stride < end; i += Batch * stride) {
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) loaded[k] = load(i + k * stride);
#pragma unroll
    for (unsigned k = 0; k < Batch; ++k) call(k);
  }
  if constexpr (Batch > 1) {
#pragma unroll
    for (unsigned k = 0; k < Batch - 1; ++k) {
      if (i + k * stride < end) loaded[k] = load(i + k * stride);
    }
#pragma unroll
    for (unsigned k = 0; k < Batch - 1; ++k) {
      if (i + k * stride < end) call(k);
    }
  }
}

/// Calls take(x[i]), take(x[i + stride]), ... for indices below `end`, with `Batch` loads in flight.
template <unsigned Batch, class Value, class Take>
__device__ void for_each_strided(const Value* x, std::uint64_t i, std::uint64_t end, std::uint64_t stride,
                                 Take take) {
  for_each_loaded<Batch>([x](std::uint64_t k) { return x[k]; }, i, end, stride,
                         [&](const Value& value, std::uint64_t) { take(value); });
}

}  // namespace fanin::device_code
