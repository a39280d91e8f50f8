// The plain kernel: every thread strides over the grid, with several 16-byte loads in flight; the last block
// finishes.
#pragma once

#include "backends/cuda/grid_fold.cuh"
#include "backends/cuda/tuning.hpp"
#include "backends/cuda/vectors.cuh"

namespace fanin::cuda {

template <class A>
__global__ void __launch_bounds__(tuning::block_threads, tuning::plain_blocks_per_multiprocessor)
    plain_kernel(const peeled_array<typename A::element> x, typename A::state* partials, unsigned* ticket,
                 typename A::state* out) {
  using T = typename A::element;
  constexpr int loads = tuning::loads_in_flight(sizeof(typename A::state));
  const std::uint64_t stride = std::uint64_t{gridDim.x} * tuning::block_threads;
  std::uint64_t i = std::uint64_t{blockIdx.x} * tuning::block_threads + threadIdx.x;
  vector_fold<A> fold;
  vector<T> v[loads];
  for (; i + (loads - 1) * stride < x.vectors; i += loads * stride) {
#pragma unroll
    for (int k = 0; k < loads; ++k) v[k] = load(x.body + i + k * stride);
#pragma unroll
    for (int k = 0; k < loads; ++k) fold.add(v[k]);
  }
#pragma unroll
  for (int k = 0; k < loads - 1; ++k) {
    if (i + k * stride < x.vectors) v[k] = load(x.body + i + k * stride);
  }
#pragma unroll
  for (int k = 0; k < loads - 1; ++k) {
    if (i + k * stride < x.vectors) fold.add(v[k]);
  }
  fold.add_ends(x);
  fold_grid<A, tuning::block_threads>(fold.total(), partials, ticket, out);
}

}  // namespace fanin::cuda
