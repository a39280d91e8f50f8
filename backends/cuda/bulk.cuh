// The bulk kernel (sm_90 and newer): one block on each multiprocessor keeps several bulk copies into shared memory
// under way and folds from there; the last block finishes.
#pragma once

#include <nv/target>

#include "backends/cuda/bulk_share.hpp"
#include "backends/cuda/grid_fold.cuh"
#include "backends/cuda/tuning.hpp"
#include "backends/cuda/vectors.cuh"

namespace fanin::cuda {

/// A barrier in shared memory on which one thread announces bytes and all threads wait for them.
class copy_barrier {
 public:
  __device__ void start() { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory"); }
  /// Makes barriers that one thread has started known to the copy engine.
  __device__ static void publish() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

  /// Starts the copy of `bytes` > 0, a multiple of 16, between 16-byte boundaries.
  __device__ void copy(void* to, const void* from, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address())
                 : "memory");
  }
  /// Waits for the copy of that parity: 0 for the first on this barrier, 1 for the second, and so on in turn.
  __device__ void wait(unsigned parity) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address()), "r"(parity)
                   : "memory");
    }
  }

 private:
  __device__ static unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
  __device__ unsigned address() const { return shared_address(this); }

  std::uint64_t word_;
};

template <class A>
__device__ void bulk_fold(const peeled_array<typename A::element>& x, typename A::state* partials, unsigned* ticket,
                          typename A::state* out) {
  using T = typename A::element;
  constexpr int stages = tuning::bulk_stages;
  extern __shared__ __align__(128) unsigned char shared_bytes[];
  auto* const buffer = reinterpret_cast<vector<T>*>(shared_bytes);
  __shared__ copy_barrier arrived[stages];
  const bulk_share share(x.vectors, gridDim.x, blockIdx.x);
  const std::uint64_t tiles = share.tiles();
  const auto request = [&](std::uint64_t tile) {
    const auto slot = static_cast<unsigned>(tile % stages);
    arrived[slot].copy(buffer + slot * bulk_share::stage, x.body + share.begin(tile, blockIdx.x),
                       share.size(tile) * 16);
  };
  if (threadIdx.x == 0) {
    for (copy_barrier& barrier : arrived) barrier.start();
    copy_barrier::publish();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (std::uint64_t tile = 0; tile < stages && tile < tiles; ++tile) request(tile);
  }

  vector_fold<A> fold;
  unsigned slot = 0;
  unsigned parity = 0;
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    arrived[slot].wait(parity);
    const vector<T>* const from = buffer + slot * bulk_share::stage;
    const unsigned size = share.size(tile);
    if (size == bulk_share::stage) {
#pragma unroll
      for (unsigned i = 0; i < bulk_share::stage; i += tuning::block_threads) fold.add(from[i + threadIdx.x]);
    } else {
      for (unsigned i = threadIdx.x; i < size; i += tuning::block_threads) fold.add(from[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0 && tile + stages < tiles) request(tile + stages);
    if (++slot == stages) slot = 0, parity ^= 1;
  }
  fold.add_ends(x);
  fold_grid<A, tuning::block_threads>(fold.total(), partials, ticket, out);
}

template <class A>
__global__ void __launch_bounds__(tuning::block_threads, 1)
    bulk_kernel(const peeled_array<typename A::element> x, typename A::state* partials, unsigned* ticket,
                typename A::state* out) {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (bulk_fold<A>(x, partials, ticket, out);))
}

}  // namespace fanin::cuda
