// SPDX-License-Identifier: Apache-2.0
// Puzzle 06: shuffles in a warp (rung 16 of the lesson)
//
// A block has 64 threads, which are two warps. Each warp adds 32 elements, and its first thread writes the sum to
// sums[number of the warp in the grid]. Elements from n on count as 0, so a warp past the end writes 0.
//
// No shared memory and no barrier is needed: __shfl_down_sync(mask, v, d) gives thread t of a warp the variable v of
// thread t + d. All threads of the mask have to call it together. The mask 0xffffffff is the whole warp.
//
// Hint 1. Add what is 16 threads further on, then 8, 4, 2 and 1.
// Hint 2. Threads past the end have to shuffle too, with the value 0. The others wait for them.
// Hint 3. The number of a thread in its warp is threadIdx.x % 32, and that of the warp in the grid is i / 32.

__global__ void warp_sums(const int* x, int n, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = x[i];
  sum += __shfl_down_sync(0xffffffff, sum, 16);  // And then?
  if (threadIdx.x % 32 == 0) sums[i / 32] = sum;
}
