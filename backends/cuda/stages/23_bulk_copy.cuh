// SPDX-License-Identifier: Apache-2.0
// 23 bulk_copy -- builds on 22 single_pass
// Fixes:   threads that spend registers and instructions on loads in flight.
// How:     one thread starts bulk copies of 32 KiB into a ring of six buffers; all wait for the next one and add it.
//          One block of 512 threads fills a multiprocessor's shared memory. Ends are peeled as in 20.
// Expect:  closest to the ceiling at large n; no gain at small n.
// Order:   fixed whichever block is last, so run-to-run reproducible.
#pragma once

#include "backends/cuda/stages/22_single_pass.cuh"
#include "backends/cuda/stages/copy_ring.cuh"

namespace fanin::cuda {

template <class A>
__device__ typename A::state fold_pieces(const stage_arguments<A>& a) {
  const auto ring = ring_of_block<typename A::element>();
  const auto part = vectors_of<A>(a);
  auto begin = std::uint64_t{blockIdx.x} * piece, apart = std::uint64_t{gridDim.x} * piece;
  if (threadIdx.x == 0) {
    start_barriers(ring);
    for (unsigned slot = 0; slot < ring_size; ++slot) start_copy(part, begin + slot * apart, ring, slot);
  }
  __syncthreads();

  auto s = A::identity();
  const auto add = [&](const auto& v) { add_vector<A>(s, v); };
  for (unsigned slot = 0, parity = 0; begin < part.count; begin += apart) {
    const unsigned size = steps::in_tile(begin, part.count, piece);
    ring.arrived[slot].wait(parity);
    for_each_strided<loads_in_flight>(ring.buffers + slot * piece, threadIdx.x, size, blockDim.x, add);
    __syncthreads();
    if (threadIdx.x == 0) start_copy(part, begin + ring_size * apart, ring, slot);
    if (++slot == ring_size) slot = 0, parity ^= 1;
  }
  if (blockIdx.x == 0) add_ends<A>(s, a, part);
  return s;
}

template <class A>
__global__ void __launch_bounds__(most_threads) bulk_copy_kernel(stage_arguments<A> a) {
  const stopwatch watch(a.cycles);
  NV_IF_TARGET(NV_PROVIDES_SM_90, (finish_in_last_block<A>(a, watch, block_fold<A>(fold_pieces<A>(a)));))
}

struct bulk_copy : single_pass {
  static constexpr stage_text text{23, "bulk-copy", "single-pass",
                                   "asynchronous bulk copies, six buffers of 32 KiB deep", "compute capability 9.0"};
  static constexpr unsigned block_size = 512;
  static constexpr unsigned tile(unsigned, unsigned element_bytes) { return piece_bytes / element_bytes; }
  static constexpr unsigned tiles_under_way = ring_size;
  static constexpr std::size_t shared_bytes(unsigned, unsigned) { return ring_size * piece_bytes; }
  static constexpr int architecture = 90;
  template <class A>
  static auto kernel(unsigned) {
    return &bulk_copy_kernel<A>;
  }
};

}  // namespace fanin::cuda
