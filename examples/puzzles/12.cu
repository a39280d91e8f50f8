// SPDX-License-Identifier: Apache-2.0
// Puzzle 12: an exact sum by integers
//
// Additions of integers do not round, so that their order does not matter, and atomics are welcome. The numbers of
// this puzzle are multiples of 2^-20, and smaller than 2^30. So x[i] * 2^20 is an integer of 64 bits. Add these
// integers to units[0], which is 0 at first. The check compares with the exact sum.
//
// The skeleton adds floats first, and rounds while it does.
//
// Hint 1. Convert each element before anything is added. A float times a power of two is exact.
// Hint 2. (long long)(x[i] * 1048576.0f) is exact: the product is an integer, and a float has only 24 bits.
// Hint 3. Shuffles and atomicAdd take numbers of 64 bits. As unsigned numbers negative ones wrap around to the
//   right sum.

__global__ void exact_sum(const float* x, int n, unsigned long long* units) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  float sum = i < n ? x[i] : 0;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);  // Which additions round?
  if (threadIdx.x % 32 == 0) atomicAdd(units, (unsigned long long)(long long)(sum * 1048576.0f));
}
