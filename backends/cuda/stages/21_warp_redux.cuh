// SPDX-License-Identifier: Apache-2.0
// 21 warp_redux -- builds on 20 vectorized
// Fixes:   five shuffles, each waiting for the one before, to fold a warp of integers.
// How:     redux.sync folds 32 bits of all lanes in one instruction; wider sums go in pieces of 27 bits, which 32
//          lanes cannot overflow, wider extrema half by half.
// Expect:  fewer clock cycles at the end of each block; no change at large n.
// Order:   none needed: integer sums and extrema are exact.
#pragma once

#include "backends/cuda/stages/20_vectorized.cuh"

namespace fanin::cuda {

template <class A, class T = typename A::element>
inline constexpr bool is_integer_min = std::is_integral_v<T>&& std::is_same_v<A, accumulator::smallest<T>>;
template <class A, class T = typename A::element>
inline constexpr bool is_integer_max = std::is_integral_v<T>&& std::is_same_v<A, accumulator::largest<T>>;

template <bool Largest, class Word>
__device__ Word redux_extremum(Word x) {
  return Largest ? __reduce_max_sync(~0u, x) : __reduce_min_sync(~0u, x);
}

/// The fold over the warp, in every lane.
template <class A>
__device__ typename A::state redux(typename A::state s) {
  constexpr bool largest = is_integer_max<A>;
  if constexpr (is_integer_sum<A>) {
    using word = std::conditional_t<sizeof s == 16, fanin::detail::uint128, std::uint64_t>;
    constexpr unsigned piece = 27;
    word total = 0;
#pragma unroll
    for (unsigned at = 0; at < 8 * sizeof s; at += piece) {
      const auto bits = static_cast<unsigned>(static_cast<word>(s) >> at) & ((1u << piece) - 1);
      total += static_cast<word>(__reduce_add_sync(~0u, bits)) << at;
    }
    return static_cast<typename A::state>(total);
  } else if constexpr (sizeof s == 4) {
    return redux_extremum<largest>(s);
  } else {
    const auto high = static_cast<int>(s >> 32);
    const int best = redux_extremum<largest>(high);
    const unsigned low = redux_extremum<largest>(high == best ? static_cast<unsigned>(s) : largest ? 0u : ~0u);
    return static_cast<typename A::state>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(best)) << 32 | low);
  }
}

template <class A>
__device__ void warp_redux_body(const stage_arguments<A>& a) {
  const stopwatch watch(a.cycles);
  __shared__ typename A::state slots[most_threads / 32];
  const unsigned lane = threadIdx.x % 32;
  auto s = redux<A>(fold_vectors<A>(a));
  if (lane == 0) slots[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) s = redux<A>(lane < blockDim.x / 32 ? slots[lane] : A::identity());
  store_partial<A>(a, watch, s);
}

template <class A>
__global__ void __launch_bounds__(most_threads) warp_redux_kernel(stage_arguments<A> a) {
  NV_IF_TARGET(NV_PROVIDES_SM_80, (warp_redux_body<A>(a);))
}

struct warp_redux : vectorized {
  static constexpr stage_text text{21, "warp-redux", "vectorized", "one instruction folds 32 bits of a whole warp",
                                   "compute capability 8.0; sum, min and max of integers"};
  template <class A>
  static constexpr int architecture = is_integer_sum<A> || is_integer_min<A> || is_integer_max<A> ? 80 : 0;
  template <class A>
  static auto kernel(unsigned) {
    return &warp_redux_kernel<A>;
  }
};

}  // namespace fanin::cuda
