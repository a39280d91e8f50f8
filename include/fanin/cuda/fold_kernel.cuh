// SPDX-License-Identifier: Apache-2.0
// The general loop of devices folds one or two arrays with any accumulator. Every thread has several loads of 16
// bytes in flight. The last block to end merges the states of all blocks.
#pragma once

#include <nv/target>

#include <fanin/cuda/grid_fold.cuh>
#include <fanin/cuda/vectors.cuh>

namespace fanin::device_code {

/// Lets the next kernel of the stream be launched now, then waits until the preceding kernel has ended and its writes
/// are visible. Has no effect in a kernel that was not launched by launch_overlapped() on compute capability 9.0 or
/// higher.
__device__ inline void overlap_with_next_launch() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (cudaTriggerProgrammaticLaunchCompletion(); cudaGridDependencySynchronize();))
}

template <class A>
inline constexpr tuning::shape shape_of = tuning::fold_shape(sizeof(typename A::state), accumulator::inputs_of<A>());

/// Adds this thread's share of the arrays' vectors: `rounds` tiles for each block, then the vectors that are left.
template <class A>
__device__ void fold_vectors(vector_fold<A>& fold, const arrays_of<A>& arrays, std::uint64_t rounds) {
  constexpr int loads = shape_of<A>.loads;
  constexpr unsigned threads = shape_of<A>.threads;
  constexpr unsigned tile = threads * loads;
  decltype(load(arrays, 0)) v[loads];
  std::uint64_t i = std::uint64_t{blockIdx.x} * tile + threadIdx.x;
  for (std::uint64_t round = 0; round < rounds; ++round, i += std::uint64_t{gridDim.x} * tile) {
#pragma unroll
    for (int k = 0; k < loads; ++k) v[k] = load(arrays, i + k * threads);
#pragma unroll
    for (int k = 0; k < loads; ++k) fold.add(arrays, v[k], arrays.position_of(i + k * threads));
  }

  const std::uint64_t turn = std::uint64_t{gridDim.x} * threads;
  for_each_loaded<(loads > 1 ? loads / 2 : 1)>(
      [&](std::uint64_t at) { return load(arrays, at); }, rounds * turn * loads + blockIdx.x * threads + threadIdx.x,
      arrays.vectors, turn,
      [&](const auto& last, std::uint64_t at) { fold.add(arrays, last, arrays.position_of(at)); });
}

template <class A, class Write>
__global__ void __launch_bounds__(shape_of<A>.threads, shape_of<A>.blocks_per_multiprocessor)
    fold_kernel(const arrays_of<A> arrays, std::uint64_t rounds, typename A::state* partials, unsigned* ticket,
                const Write write) {
  overlap_with_next_launch();
  vector_fold<A> fold;
  fold_vectors(fold, arrays, rounds);
  fold.add_ends(arrays);
  fold_grid<A, shape_of<A>.threads>(fold.total(), partials, ticket, [&](const typename A::state& s) {
    if constexpr (adds_runs<A>) {
      write(located<A>(arrays, s));
    } else {
      write(s);
    }
  });
}

}  // namespace fanin::device_code
