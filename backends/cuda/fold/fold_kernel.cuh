// The shipped kernel: every thread has several 16-byte loads in flight; the last block finishes.
#pragma once

#include <nv/target>

#include "backends/cuda/fold/grid_fold.cuh"
#include "backends/cuda/fold/tuning.hpp"
#include "backends/cuda/fold/vectors.cuh"

namespace fanin::cuda {

/// Lets the next kernel of the stream be sent to the device now, then waits until the one in front has ended and
/// what it wrote can be seen. Means nothing where the launch did not ask for it.
__device__ inline void take_over() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (cudaTriggerProgrammaticLaunchCompletion(); cudaGridDependencySynchronize();))
}

template <class A>
inline constexpr tuning::shape shape_of = tuning::fold_shape(sizeof(typename A::state));

/// This thread's part of the vectors.
template <class A>
__device__ void fold_vectors(vector_fold<A>& fold, const peeled_array<typename A::element>& x, std::uint64_t rounds) {
  constexpr int loads = shape_of<A>.loads;
  constexpr unsigned threads = shape_of<A>.threads;
  constexpr unsigned tile = threads * loads;
  vector<typename A::element> v[loads];
  std::uint64_t i = std::uint64_t{blockIdx.x} * tile + threadIdx.x;
  for (std::uint64_t round = 0; round < rounds; ++round, i += std::uint64_t{gridDim.x} * tile) {
#pragma unroll
    for (int k = 0; k < loads; ++k) v[k] = load(x.body + i + k * threads);
#pragma unroll
    for (int k = 0; k < loads; ++k) fold.add(v[k]);
  }

  const std::uint64_t turn = std::uint64_t{gridDim.x} * threads;
  for_each_strided<loads / 2>(x.body, rounds * turn * loads + blockIdx.x * threads + threadIdx.x, x.vectors, turn,
                              [&](const auto& last) { fold.add(last); });
}

template <class A, class Write>
__global__ void __launch_bounds__(shape_of<A>.threads, shape_of<A>.blocks_per_multiprocessor)
    fold_kernel(const peeled_array<typename A::element> x, std::uint64_t rounds, typename A::state* partials,
                unsigned* ticket, const Write write) {
  take_over();
  vector_fold<A> fold;
  fold_vectors(fold, x, rounds);
  fold.add_ends(x);
  fold_grid<A, shape_of<A>.threads>(fold.total(), partials, ticket, write);
}

}  // namespace fanin::cuda
