// SPDX-License-Identifier: Apache-2.0
// Puzzle 03, solved: a tree in shared memory

__global__ void tree(const int* x, int n, int* sums) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int stride = 1; stride < 64; stride *= 2) {
    if (t % (2 * stride) == 0) s[t] += s[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
