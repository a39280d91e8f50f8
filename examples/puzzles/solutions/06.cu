// SPDX-License-Identifier: Apache-2.0
// Puzzle 06, solved: shuffles in a warp

__global__ void warp_sums(const int* x, int n, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) sums[i / 32] = sum;
}
