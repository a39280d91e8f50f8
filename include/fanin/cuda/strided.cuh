// SPDX-License-Identifier: Apache-2.0
// The loop of a thread over elements that lie a stride apart.
#pragma once

#include <cstdint>

namespace fanin::device_code {

/// Calls take(load(i), i), take(load(i + stride), i + stride), ... for indices below `end`. `Unroll` loads are in
/// flight before the first value is used.
template <unsigned Unroll, class Load, class Take>
__device__ void for_each_loaded(Load load, std::uint64_t i, std::uint64_t end, std::uint64_t stride, Take take) {
  decltype(load(i)) loaded[Unroll];
  const auto call = [&](unsigned k) { take(loaded[k], i + k * stride); };
  for (; i + (Unroll - 1) * stride < end; i += Unroll * stride) {
#pragma unroll
    for (unsigned k = 0; k < Unroll; ++k) loaded[k] = load(i + k * stride);
#pragma unroll
    for (unsigned k = 0; k < Unroll; ++k) call(k);
  }
  if constexpr (Unroll > 1) {
#pragma unroll
    for (unsigned k = 0; k < Unroll - 1; ++k) {
      if (i + k * stride < end) loaded[k] = load(i + k * stride);
    }
#pragma unroll
    for (unsigned k = 0; k < Unroll - 1; ++k) {
      if (i + k * stride < end) call(k);
    }
  }
}

/// Calls take(x[i]), take(x[i + stride]), ... for indices below `end`, with `Unroll` loads in flight.
template <unsigned Unroll, class Value, class Take>
__device__ void for_each_strided(const Value* x, std::uint64_t i, std::uint64_t end, std::uint64_t stride,
                                 Take take) {
  for_each_loaded<Unroll>([x](std::uint64_t k) { return x[k]; }, i, end, stride,
                          [&](const Value& value, std::uint64_t) { take(value); });
}

}  // namespace fanin::device_code
