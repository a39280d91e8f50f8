// 14 atomic_block -- builds on 13 unroll_complete
// Fixes:   the second step that folds the partials.
// How:     thread 0 of each block merges its partial into the result with compare-and-swap.
// Expect:  no gain: blocks queue for one address, and the result must be set to the identity first, by a launch too.
// Order:   the order in which blocks arrive. Sums and products of floats may differ from run to run.
#pragma once

#include "backends/cuda/stages/05_global_unroll_8_warp.cuh"
#include "backends/cuda/stages/11_add_on_load.cuh"
#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class State>
using word_of =
    std::conditional_t<sizeof(State) == 4, unsigned,
                       std::conditional_t<sizeof(State) == 8, unsigned long long, fanin::detail::uint128>>;

template <class A>
__device__ void merge_atomically(typename A::state* into, const typename A::state& from) {
  using word = word_of<typename A::state>;
  auto merged = A::identity();
  word seen, expected, wanted;
  std::memcpy(&seen, &merged, sizeof seen);
  do {
    expected = seen;
    std::memcpy(&merged, &expected, sizeof merged);
    A::merge(merged, from);
    std::memcpy(&wanted, &merged, sizeof wanted);
    seen = atomicCAS(reinterpret_cast<word*>(into), expected, wanted);
  } while (seen != expected);
}

template <class A>
__device__ void atomic_block_body(const stage_arguments<A>& a) {
  const stopwatch watch(a.cycles);
  auto* values = dynamic_shared<typename A::state>();
  values[threadIdx.x] = load_two<A>(a);
  __syncthreads();
  for (unsigned stride = steps::first_stride(blockDim.x); stride > 32; stride /= 2) {
    const auto step = steps::halving(threadIdx.x, stride, blockDim.x);
    if (step.works) A::merge(values[step.into], values[step.from]);
    __syncthreads();
  }
  if (threadIdx.x < 32) fold_in_warp<A, 32>(values, threadIdx.x, blockDim.x);
  if (threadIdx.x == 0) {
    merge_atomically<A>(a.result, values[0]);
    watch.stop();
  }
}

template <class A>
__global__ void __launch_bounds__(most_threads) atomic_block_kernel(stage_arguments<A> a) {
  if constexpr (sizeof(typename A::state) == 16) {
    NV_IF_TARGET(NV_PROVIDES_SM_90, (atomic_block_body<A>(a);))
  } else {
    atomic_block_body<A>(a);
  }
}

struct atomic_block : stage_defaults {
  static constexpr stage_text text{14, "atomic-block", "unroll-complete", "one atomic for each block, no second step",
                                   "compute capability 9.0 for states of 16 bytes (i64 sum, integer products)"};
  static constexpr auto reproducibility = fanin::reproducibility::none;
  static constexpr stage_ending ending = stage_ending::atomics;
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads * 2; }
  static constexpr std::size_t shared_bytes(unsigned threads, unsigned state_bytes) { return threads * state_bytes; }
  template <class A>
  static constexpr int architecture = sizeof(typename A::state) == 16 ? 90 : 75;
  template <class A>
  static auto kernel(unsigned) {
    return &atomic_block_kernel<A>;
  }
};

}  // namespace fanin::cuda
