// SPDX-License-Identifier: Apache-2.0
// Puzzle 07: a block with one barrier (rung 16 of the lesson)
//
// Block b adds the elements 128 b to 128 b + 127 with a single barrier of the block. Each of its 4 warps adds its
// own elements by shuffles and puts its sum into shared memory, one word for each warp. After the barrier one
// thread or one warp adds the 4 words and writes sums[b].
//
// Hint 1. warp_sum() is the answer of puzzle 6. The first thread of the warp has the sum.
// Hint 2. Only the first thread of each warp writes the word of its warp.
// Hint 3. After the barrier thread 0 can add the 4 words.

__device__ int warp_sum(int sum) {
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  return sum;
}

__global__ void block_sums(const int* x, int n, int* sums) {
  __shared__ int of_warp[4];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  const int sum = warp_sum(i < n ? x[i] : 0);
  of_warp[t / 32] = sum;  // Which thread has the sum of the warp? Who may read it, and when?
  if (t == 0) sums[blockIdx.x] = of_warp[0];
}
