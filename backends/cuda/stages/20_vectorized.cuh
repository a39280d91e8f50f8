// SPDX-License-Identifier: Apache-2.0
// 20 vectorized -- builds on 19 grid_stride
// Fixes:   4 or 8 bytes for each load: too many instructions, too few bytes in flight.
// How:     16-byte loads, four of them started before the first is used. The elements before the first aligned
//          address and after the last whole vector go to block 0, so that any alignment takes the fast path.
// Expect:  close to the ceiling of plain loads at large n.
// Order:   fixed for one number of blocks and one alignment, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/19_grid_stride.cuh"

namespace fanin::cuda {

template <class T>
struct alignas(16) vector_of {
  T x[16 / sizeof(T)];
};

template <class A>
__device__ void add_vector(typename A::state& s, const vector_of<typename A::element>& v) {
#pragma unroll
  for (const auto x : v.x) A::add(s, x);
}

/// The elements of [0, part.head) and of the tail, one for each of the block's first threads.
template <class A>
__device__ void add_ends(typename A::state& s, const stage_arguments<A>& a, const steps::peeled& part) {
  if (threadIdx.x < part.head) A::add(s, a.data[threadIdx.x]);
  if (threadIdx.x < part.tail) A::add(s, a.data[a.count - part.tail + threadIdx.x]);
}

inline constexpr unsigned loads_in_flight = 4;

/// The sum of this thread's share of the input: every vector that is a grid away from the one before.
template <class A>
__device__ typename A::state fold_vectors(const stage_arguments<A>& a) {
  using vector = vector_of<typename A::element>;
  const auto part = steps::peel(reinterpret_cast<std::uintptr_t>(a.data), a.count, sizeof(typename A::element));
  const auto* vectors = reinterpret_cast<const vector*>(a.data + part.head);
  const auto stride = std::uint64_t{gridDim.x} * blockDim.x;
  auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  auto s = A::identity();
  vector x[loads_in_flight];
  for (; i + (loads_in_flight - 1) * stride < part.vectors; i += loads_in_flight * stride) {
#pragma unroll
    for (unsigned k = 0; k < loads_in_flight; ++k) x[k] = vectors[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < loads_in_flight; ++k) add_vector<A>(s, x[k]);
  }
#pragma unroll
  for (unsigned k = 0; k < loads_in_flight - 1; ++k) {
    if (i + k * stride < part.vectors) x[k] = vectors[i + k * stride];
  }
#pragma unroll
  for (unsigned k = 0; k < loads_in_flight - 1; ++k) {
    if (i + k * stride < part.vectors) add_vector<A>(s, x[k]);
  }
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
