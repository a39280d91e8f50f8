// SPDX-License-Identifier: Apache-2.0
// 20 vectorized -- builds on 19 grid_stride
// Fixes:   4 or 8 bytes for each load: too many instructions, too few bytes in flight.
// How:     16-byte loads, four of them started before the first is used. The elements before the first aligned
//          address and after the last whole vector go to block 0, so that any alignment takes the fast path.
// Expect:  close to the ceiling of plain loads at large n.
// Order:   fixed for one number of blocks and one alignment, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/19_grid_stride.cuh"
#include "backends/cuda/stages/vectors.cuh"

namespace fanin::cuda {

/// The sum of this thread's share of the input: every vector that is a grid away from the one before.
template <class A>
__device__ typename A::state fold_vectors(const stage_arguments<A>& a) {
  const auto part = vectors_of<A>(a);
  const auto stride = std::uint64_t{gridDim.x} * blockDim.x;
  auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto s = A::identity();
  vector_of<typename A::element> x[loads_in_flight];
  for (; i + (loads_in_flight - 1) * stride < part.count; i += loads_in_flight * stride) {
#pragma unroll
    for (unsigned k = 0; k < loads_in_flight; ++k) x[k] = part.vectors[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < loads_in_flight; ++k) add_vector<A>(s, x[k]);
  }
#pragma unroll
  for (unsigned k = 0; k < loads_in_flight - 1; ++k)
    if (i + k * stride < part.count) x[k] = part.vectors[i + k * stride];
#pragma unroll
  for (unsigned k = 0; k < loads_in_flight - 1; ++k)
    if (i + k * stride < part.count) add_vector<A>(s, x[k]);
  if (blockIdx.x == 0) add_ends<A>(s, a, part);
  return s;
}

template <class A>
__global__ void __launch_bounds__(most_threads) vectorized_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  store_partial<A>(a, watch, block_fold<A>(fold_vectors<A>(a)));
}

struct vectorized : grid_stride {
  static constexpr stage_text text{20, "vectorized", "grid-stride",
                                   "16-byte loads, four in flight, head and tail peeled"};
  static constexpr unsigned tile(unsigned threads, unsigned element_bytes) {
    return threads * loads_in_flight * (16 / element_bytes);
  }
  template <class A>
  static auto kernel(unsigned) {
    return &vectorized_kernel<A>;
  }
};

}  // namespace fanin::cuda
