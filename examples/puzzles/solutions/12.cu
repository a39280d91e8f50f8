// SPDX-License-Identifier: Apache-2.0
// Puzzle 12, solved: an exact sum by integers

__global__ void exact_sum(const float* x, int n, unsigned long long* units) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  long long sum = i < n ? (long long)(x[i] * 1048576.0f) : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) atomicAdd(units, (unsigned long long)sum);
}
