// SPDX-License-Identifier: Apache-2.0
// Puzzle 08: one launch, and the last block finishes (rung 22 of the lesson)
//
// Block b adds the elements 64 b to 64 b + 63. result[0] has to be the sum of all elements, after one launch.
// Blocks cannot wait for each other. But each block can count its arrival: atomicAdd(arrived, 1) returns how many
// were there before. The block that finds gridDim.x - 1 is the last one. All partial sums are there, and it adds
// them.
//
// arrived[0] is 0 at first. partials has a place for each block.
//
// Hint 1. Write the partial sum, then call __threadfence(), then count. The fence shows the write to other blocks
//   first.
// Hint 2. One thread counts. All other threads of the block may ask only after a barrier.
// Hint 3. In the simplest form thread 0 does all of it: write, fence, count, and if the block is the last one,
//   add.

__device__ int warp_sum(int sum) {
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  return sum;
}

__global__ void one_launch(const int* x, int n, int* partials, unsigned* arrived, int* result) {
  __shared__ int of_warp[2];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  const int sum = warp_sum(i < n ? x[i] : 0);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    partials[blockIdx.x] = of_warp[0] + of_warp[1];
    if (blockIdx.x == gridDim.x - 1) {  // Is that the block that ends last?
      int total = 0;
      for (unsigned b = 0; b < gridDim.x; ++b) total += partials[b];
      result[0] = total;
    }
  }
}
