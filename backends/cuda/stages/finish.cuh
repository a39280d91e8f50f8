// SPDX-License-Identifier: Apache-2.0
// The second step that stages share, and the copy that stages in place work on.
#pragma once

#include "backends/cuda/stages/16_warp_shuffle.cuh"

namespace fanin::cuda {

/// One block folds the partials in a fixed order; without partials the result is the identity.
template <class A>
__global__ void __launch_bounds__(most_threads)
    finish_kernel(const typename A::state* partials, std::uint64_t count, typename A::state* result) {
  constexpr unsigned loads_in_flight =
      sizeof(typename A::state) == 16 ? 2 : 16;  // more would not fit in the registers
  const auto s = block_fold<A>(fold_partials<A, loads_in_flight>(partials, count));
  if (threadIdx.x == 0) *result = s;
}

/// Copies the input, each element as the state that holds it alone.
template <class A>
__global__ void __launch_bounds__(most_threads)
    copy_states_kernel(const typename A::element* data, std::uint64_t count, typename A::state* copy) {
  const auto stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    auto s = A::identity();
    A::add(s, data[i]);
    copy[i] = s;
  }
}

}  // namespace fanin::cuda
