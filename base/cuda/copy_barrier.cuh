// SPDX-License-Identifier: Apache-2.0
// Asynchronous bulk copies into shared memory, and waiting for them (compute capability 9.0).
#pragma once

#include <cstdint>

namespace fanin::cuda {

/// An mbarrier in shared memory: one thread starts a copy on it, and all threads wait for the copied bytes.
class copy_barrier {
 public:
  /// Initialises the barrier, for one arriving thread.
  __device__ void start() { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address()) : "memory"); }
  /// Makes the barriers that the calling thread has initialised visible to the copy engine.
  __device__ static void publish() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

  /// Starts the copy of `bytes` > 0, a multiple of 16, between 16-byte boundaries.
  __device__ void copy(void* to, const void* from, unsigned bytes) {
    announce(bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address())
                 : "memory");
  }
  /// Copies data that is read only once: the L2 cache evicts it first.
  __device__ void copy_once(void* to, const void* from, unsigned bytes) {
    announce(bytes);
    std::uint64_t evict_first;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(evict_first));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
        "%4;" ::"r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address()), "l"(evict_first)
        : "memory");
  }
  /// Waits for a copy. The copies on this barrier have the parities 0, 1, 0, 1, ... in order.
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
  __device__ void announce(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
  }
  __device__ static unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
  __device__ unsigned address() const { return shared_address(this); }

  std::uint64_t word_;
};

}  // namespace fanin::cuda
