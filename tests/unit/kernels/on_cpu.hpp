// The CUDA extensions of C++ that the ladder's kernels use, for a C++ compiler. Each thread of a block is a thread of
// the host, barriers are std::barrier, and blocks run one after the other. The order of additions is that of a
// device.
//
// Include this header before any kernel. Instantiate kernels with an accumulator in an unnamed namespace, because a
// build with CUDA contains other functions of the same names.
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

/// The barriers of the running block, and the values that its lanes exchange.
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
inline int __any_sync(unsigned, int mine) { return mine; }  // No kernel that the tests run calls it.
inline long long clock64() { return 0; }
using std::min;

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// The array of dynamic shared memory is declared in common.cuh, the arrays of static shared memory in the stages.
#define __shared__
namespace fanin::cuda {
alignas(128) inline unsigned char bytes[1024 * 16];
}
#include "backends/cuda/stages/common.cuh"
#undef __shared__
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
