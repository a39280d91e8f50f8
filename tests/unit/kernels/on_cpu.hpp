// What CUDA adds to C++, as far as the ladder's kernels use it, for an ordinary compiler: a block is as many threads
// of the host, barriers are barriers, and blocks run one after the other. Slow, and the same order of additions.
//
// Include this before any kernel. Kernels have to be instantiated with an accumulator of an unnamed namespace: in a
// build with CUDA there are others of their names.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <thread>
#include <vector>

namespace fanin::test {

struct dimension {
  unsigned x;
};

/// The barriers of the block that runs, and what its lanes show each other.
struct block_barriers {
  explicit block_barriers(unsigned threads) : all(threads) {
    for (unsigned warp = 0; warp < threads / 32; ++warp) of_warp.emplace_back(32);
  }
  std::barrier<> all;
  std::deque<std::barrier<>> of_warp;
  unsigned shown[1024] = {};
  std::atomic<bool> any = false;
};
inline block_barriers* running = nullptr;

}  // namespace fanin::test

inline thread_local fanin::test::dimension threadIdx;
inline fanin::test::dimension blockIdx, blockDim, gridDim;

inline void __syncthreads() { fanin::test::running->all.arrive_and_wait(); }
inline void __syncwarp() { fanin::test::running->of_warp[threadIdx.x / 32].arrive_and_wait(); }
inline unsigned __shfl_down_sync(unsigned, unsigned mine, unsigned distance) {
  unsigned* const shown = fanin::test::running->shown;
  __syncwarp();
  shown[threadIdx.x] = mine;
  __syncwarp();
  return shown[threadIdx.x % 32 + distance < 32 ? threadIdx.x + distance : threadIdx.x];
}
inline int __syncthreads_or(int mine) {
  auto& any = fanin::test::running->any;
  if (mine != 0) any = true;
  __syncthreads();
  const bool answer = any;
  __syncthreads();
  any = false;
  return answer ? 1 : 0;
}
inline int __any_sync(unsigned, int mine) { return mine; }  // asked for by nothing that runs here
inline long long clock64() { return 0; }
using std::min;

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// The one array whose size the launch chooses is declared in common.cuh, the others in the stages.
#define __shared__
namespace fanin::cuda {
alignas(128) inline unsigned char bytes[1024 * 16];
}
#include "backends/cuda/stages/common.cuh"
#undef __shared__
#define __shared__ static

namespace fanin::test {

/// kernel() in every thread of every block.
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
