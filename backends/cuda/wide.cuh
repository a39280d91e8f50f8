// The kernel for states too wide for registers: one in shared memory for each thread; the last block finishes.
#pragma once

#include <new>

#include "backends/cuda/grid_fold.cuh"
#include "backends/cuda/tuning.hpp"

namespace fanin::cuda {

template <class State, int Threads>
class wide_block {
 public:
  __device__ State& own() { return states()[threadIdx.x]; }
  __device__ void start(const State& identity) { ::new (&own()) State(identity); }

  /// Merges all states into that of thread 0 and writes it to `out`.
  template <class A>
  __device__ void fold_to(State* out) {
    for (unsigned step = Threads / 2; step > 0; step /= 2) {
      __syncthreads();
      if (threadIdx.x < step) A::merge(own(), states()[threadIdx.x + step]);
    }
    if (threadIdx.x == 0) *out = own();
  }

 private:
  __device__ State* states() { return reinterpret_cast<State*>(bytes_); }
  alignas(State) unsigned char bytes_[Threads * sizeof(State)];
};

template <class A>
inline constexpr int wide_threads_of = tuning::wide_threads(sizeof(typename A::state));

template <class A>
__global__ void __launch_bounds__(wide_threads_of<A>)
    wide_kernel(const typename A::element* x, std::uint64_t count, typename A::state* partials, unsigned* ticket,
                typename A::state* out) {
  constexpr int threads = wide_threads_of<A>;
  __shared__ wide_block<typename A::state, threads> block;
  block.start(A::identity());
  const std::uint64_t stride = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += stride) {
    A::add(block.own(), x[i]);
  }
  if (gridDim.x == 1) return block.template fold_to<A>(out);
  block.template fold_to<A>(partials + blockIdx.x);
  if (!is_last_block(ticket)) return;
  block.start(A::identity());
  for (unsigned i = threadIdx.x; i < gridDim.x; i += threads) A::merge(block.own(), partials[i]);
  block.template fold_to<A>(out);
}

}  // namespace fanin::cuda
