// SPDX-License-Identifier: Apache-2.0
// Puzzle 04: no bank conflicts (rung 09 of the lesson)
//
// The sums are those of puzzle 3, and the skeleton computes them. But it is slow. Shared memory has 32 banks, and
// the word i is in bank i % 32. If threads of a warp want different words of one bank, they wait for each other:
// a bank conflict. Here neighbouring threads use words that are 2 stride apart. Make a tree without conflicts.
//
// Hint 1. Thread t and thread t + 1 should use neighbouring words.
// Hint 2. Let the stride fall from 32 to 1 instead of rising.
// Hint 3. With the stride h, the threads t < h add s[t + h] to s[t].

__global__ void no_conflicts(const int* x, int n, int* sums) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int stride = 1; stride < 64; stride *= 2) {
    const int left = 2 * stride * t;  // In which bank is it?
    if (left + stride < 64) s[left] += s[left + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
