// SPDX-License-Identifier: Apache-2.0
// Puzzle 03: a tree in shared memory (rung 06 of the lesson)
//
// A block has 64 threads. Block b adds the elements 64 b to 64 b + 63, and thread 0 writes the sum to sums[b].
// Elements from n on count as 0.
//
// Shared memory belongs to the block: each thread puts its element there. Then the threads add pairs, then pairs
// of pairs, as a tree. The tree has 6 steps, where one thread alone would make 63 additions. No thread may read what
// another one has not written yet: __syncthreads() waits for all threads.
//
// Hint 1. Shared memory has no value at first. Every thread has to write its element, also if it is past the end.
// Hint 2. Put a barrier after the elements are written, and one after each step of the tree.
// Hint 3. All threads of the block have to reach a barrier. So the barrier is outside of the if.

__global__ void tree(const int* x, int n, int* sums) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n) s[t] = x[i];
  for (int stride = 1; stride < 64; stride *= 2) {
    if (t % (2 * stride) == 0) s[t] += s[t + stride];  // What has to happen before, and after?
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
