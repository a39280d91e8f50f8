// SPDX-License-Identifier: Apache-2.0
// Puzzle 05: the last warp (rung 12 of the lesson)
//
// A block has 128 threads. Block b adds the elements 128 b to 128 b + 127. In the steps with h = 32 and below only one
// warp works, but all warps would meet at each barrier of the block. Let the first warp finish alone. __syncwarp() is
// the barrier of a warp, and costs much less.
//
// Many old programs have no barrier there at all. That was never right: the threads of a warp need not run in step,
// so one thread may be at a later line than another.
//
// Hint 1. Only threads 0 to 31 take part in these steps, as in the skeleton.
// Hint 2. A thread must not write s[t] while another still reads it: read, then meet, then write, then meet.
// Hint 3. Keep the sum in a variable. At each step: sum += s[t + h]; __syncwarp(); s[t] = sum; __syncwarp();

__global__ void last_warp(const int* x, int n, int* sums) {
  __shared__ int s[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    for (int h = 32; h > 0; h /= 2) s[t] += s[t + h];  // Who still reads s[t]?
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
