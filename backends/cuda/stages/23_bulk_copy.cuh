// SPDX-License-Identifier: Apache-2.0
// 23 bulk_copy -- builds on 22 single_pass
// Fixes:   threads that spend registers and instructions on loads in flight.
// How:     one thread starts bulk copies of 32 KiB into a ring of six buffers; all wait for the next one and add it.
//          One block of 512 threads fills a multiprocessor's shared memory. Ends are peeled as in 20.
// Expect:  closest to the ceiling at large n; no gain at small n.
// Order:   fixed whichever block is last, so run-to-run reproducible.
#pragma once

#include "backends/cuda/runtime/copy_barrier.cuh"
#include "backends/cuda/stages/22_single_pass.cuh"

namespace fanin::cuda {

inline constexpr unsigned piece_bytes = 32 * 1024;
inline constexpr unsigned ring_size = 6;

template <class A>
__device__ typename A::state fold_chunks(const stage_arguments<A>& a) {
  using vector = vector_of<typename A::element>;
  constexpr unsigned chunk = piece_bytes / sizeof(vector);
  __shared__ copy_barrier arrived[ring_size];
  auto* ring = dynamic_shared<vector>();
  const auto part = steps::peel(reinterpret_cast<std::uintptr_t>(a.data), a.count, sizeof(typename A::element));
  const auto* vectors = reinterpret_cast<const vector*>(a.data + part.head);
  const auto start_copy = [&](std::uint64_t begin, unsigned slot) {
    const unsigned size = steps::in_tile(begin, part.vectors, chunk);
    if (size > 0) arrived[slot].copy(ring + slot * chunk, vectors + begin, size * sizeof(vector));
  };
  const auto apart = std::uint64_t{gridDim.x} * chunk;
  auto begin = std::uint64_t{blockIdx.x} * chunk;
  if (threadIdx.x == 0) {
    for (auto& barrier : arrived) barrier.start();
    copy_barrier::publish();
    for (unsigned slot = 0; slot < ring_size; ++slot) start_copy(begin + slot * apart, slot);
  }
  __syncthreads();

  auto s = A::identity();
  const auto add = [&](const vector& v) { add_vector<A>(s, v); };
  for (unsigned slot = 0, parity = 0; begin < part.vectors; begin += apart) {
    const unsigned size = steps::in_tile(begin, part.vectors, chunk);
    arrived[slot].wait(parity);
    for_each_strided<loads_in_flight>(ring + slot * chunk, threadIdx.x, size, blockDim.x, add);
    __syncthreads();
    if (threadIdx.x == 0) start_copy(begin + ring_size * apart, slot);
    if (++slot == ring_size) slot = 0, parity ^= 1;
  }
  if (blockIdx.x == 0) add_ends<A>(s, a, part);
  return s;
}

template <class A>
__device__ void bulk_copy_body(const stage_arguments<A>& a) {
  const stopwatch watch(a.cycles);
  finish_in_last_block<A>(a, watch, block_fold<A>(fold_chunks<A>(a)));
}

template <class A>
__global__ void __launch_bounds__(most_threads) bulk_copy_kernel(stage_arguments<A> a) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (bulk_copy_body<A>(a);))
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
