// SPDX-License-Identifier: Apache-2.0
// The CUDA extensions of C++ that all kernels use, for a C++ compiler. Each thread of a block is a thread of
// the host, barriers are std::barrier, and blocks run one after the other. The order of additions is that of a
// device.
//
// Include this header before any kernel. Instantiate kernels with an accumulator in an unnamed namespace, because a
// build with CUDA contains other functions of the same names.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

namespace fanin::test {

struct dimension {
  unsigned x;
};

/// The barriers of the running block, and the values that its lanes exchange.
struct block_barriers {
  explicit block_barriers(unsigned threads) : all(threads) {
    for (unsigned warp = 0; warp < threads / 32; ++warp) of_warp.emplace_back(32);
  }
  std::barrier<> all;
  std::deque<std::barrier<>> of_warp;
  std::uint64_t shown[2][1024] = {};  ///< what lanes show in one exchange and in the next
  std::atomic<bool> any = false;
};
inline block_barriers* running = nullptr;
inline thread_local unsigned exchanges;  ///< exchanges so far in the calling thread's warp

}  // namespace fanin::test

inline thread_local fanin::test::dimension threadIdx;
inline fanin::test::dimension blockIdx, blockDim, gridDim;

template <class T>
T atomicMax(T* into, T value) {
  const std::atomic_ref most(*into);
  T found = most.load();
  while (value > found && !most.compare_exchange_weak(found, value)) continue;
  return found;
}

inline void __syncthreads() { fanin::test::running->all.arrive_and_wait(); }
inline void __syncwarp() { fanin::test::running->of_warp[threadIdx.x / 32].arrive_and_wait(); }
namespace fanin::test {

/// The values that the lanes of the caller's warp pass, until its next exchange but one. All lanes of the warp call
/// it.
inline const std::uint64_t* exchange(std::uint64_t mine) {
  auto* const shown = running->shown[exchanges++ % 2];
  shown[threadIdx.x] = mine;
  __syncwarp();
  return shown + threadIdx.x / 32 * 32;
}
/// The value that lane `from` passes.
inline std::uint64_t exchange(std::uint64_t mine, unsigned from) { return exchange(mine)[from]; }

}  // namespace fanin::test

inline unsigned __shfl_down_sync(unsigned, unsigned mine, unsigned distance) {
  const unsigned lane = threadIdx.x % 32;
  return static_cast<unsigned>(fanin::test::exchange(mine, lane + distance < 32 ? lane + distance : lane));
}
inline unsigned __ballot_sync(unsigned, int mine) {
  const std::uint64_t* const warp = fanin::test::exchange(mine != 0 ? 1 : 0);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= static_cast<unsigned>(warp[lane]) << lane;
  return bits;
}
inline int __any_sync(unsigned lanes, int mine) { return __ballot_sync(lanes, mine) != 0 ? 1 : 0; }
inline int __syncthreads_or(int mine) {
  auto& any = fanin::test::running->any;
  if (mine != 0) any = true;
  __syncthreads();
  const bool answer = any;
  __syncthreads();
  any = false;
  return answer ? 1 : 0;
}
inline int __all_sync(unsigned lanes, int mine) { return __any_sync(lanes, mine == 0 ? 1 : 0) == 0 ? 1 : 0; }
inline int __syncthreads_and(int mine) { return __syncthreads_or(mine == 0 ? 1 : 0) == 0 ? 1 : 0; }
inline long long clock64() { return 0; }
using std::min;

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))

#define __shared__ static

namespace fanin::test {

/// Calls kernel() in every thread of every block.
template <class Kernel>
void launch(unsigned blocks, unsigned threads, Kernel kernel) {
  block_barriers barriers(threads);
  running = &barriers;
  blockDim.x = threads;
  gridDim.x = blocks;
  const auto thread = [&](unsigned number) {
    threadIdx.x = number;
    for (unsigned block = 0; block < blocks; ++block) {
      barriers.all.arrive_and_wait();
      if (number == 0) blockIdx.x = block;
      barriers.all.arrive_and_wait();
      kernel();
    }
  };
  std::vector<std::thread> all;
  for (unsigned number = 0; number < threads; ++number) all.emplace_back(thread, number);
  for (std::thread& one : all) one.join();
}

}  // namespace fanin::test
