// SPDX-License-Identifier: Apache-2.0
// Puzzle 11: why float atomics are not reproducible (rungs 14 and 22 of the lesson)
//
// Additions of floats round. So (a + b) + c and a + (b + c) may differ in their last bits. Atomic additions happen
// in the order in which the blocks come, and that order is another one in each run. The check runs the kernel with
// the blocks in several orders, and compares the bits. Change the skeleton so that all orders give the same bits.
//
// result[0] and arrived[0] are 0 at first. partials has a place for each block.
//
// Hint 1. Puzzle 8 has all that you need. Here it matters in which order the last block adds.
// Hint 2. The order has to depend on the numbers of the blocks alone, and not on who comes when.
// Hint 3. Thread 0 of the last block adds partials[0], partials[1] and so on in a loop.

__device__ float warp_sum(float sum) {
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  return sum;
}

__global__ void same_bits(const float* x, int n, float* partials, unsigned* arrived, float* result) {
  __shared__ float of_warp[2];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  const float sum = warp_sum(i < n ? x[i] : 0);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  if (t == 0) atomicAdd(result, of_warp[0] + of_warp[1]);  // In which order?
}
