// SPDX-License-Identifier: Apache-2.0
// 21 warp_redux -- builds on 20 vectorized
// Fixes:   five shuffles, each waiting for the one before, to add a warp of integers.
// How:     redux.sync adds 32 bits of all threads of a warp in one instruction; wider sums go in pieces of 27 bits,
//          which 32 threads cannot overflow.
// Expect:  fewer clock cycles at the end of each block; no change at large n.
// Order:   none needed: integer sums are exact.
#pragma once

#include "backends/cuda/stages/20_vectorized.cuh"

namespace fanin::cuda {

/// The sum over the warp, in every thread. Devices without the instruction do not compile this template, which nobody
/// calls there.
template <class State>
__device__ State redux(State s) {
  using word = std::make_unsigned_t<State>;
  constexpr unsigned piece = 27;
  word total = 0;
#pragma unroll
  for (unsigned at = 0; at < 8 * sizeof(word); at += piece) {
    const auto low = static_cast<unsigned>(static_cast<word>(s) >> at) & ((1u << piece) - 1);
    total += word{__reduce_add_sync(~0u, low)} << at;
  }
  return static_cast<State>(total);
}

template <class A>
__device__ void warp_redux_body(const stage_arguments<A>& a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state slots[most_threads / 32];
  const unsigned warp_thread = threadIdx.x % 32;
  auto s = redux(fold_vectors<A>(a));
  if (warp_thread == 0) slots[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) s = redux(warp_thread < blockDim.x / 32 ? slots[warp_thread] : A::identity());
  store_partial<A>(a, watch, s);
}

template <class A>
__global__ void __launch_bounds__(most_threads) warp_redux_kernel(stage_arguments<A> a) {
  NV_IF_TARGET(NV_PROVIDES_SM_80, (warp_redux_body<A>(a);))
}

struct warp_redux : vectorized {
  static constexpr stage_text text{21, "warp-redux", "vectorized", "one instruction adds 32 bits of a whole warp",
                                   "compute capability 8.0; sums of integers"};
  static constexpr int architecture = 80;
  template <operation What, class T>
  static constexpr bool serves = is_integer(type_of<T>) && What == operation::sum;
  template <class A>
  static auto kernel(unsigned) {
    return &warp_redux_kernel<A>;
  }
};

}  // namespace fanin::cuda
