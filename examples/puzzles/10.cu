// SPDX-License-Identifier: Apache-2.0
// Puzzle 10: segments
//
// x is cut into segments of any length. Segment s has the elements begins[s] to begins[s + 1] - 1, so that
// `begins` has one number more than there are segments. A segment may be empty, and its sum is 0. A warp adds a
// segment; a block of 64 threads has two warps.
//
// Hint 1. The segment is the number of the warp in the grid, as the row was in puzzle 9.
// Hint 2. Thread l of the warp adds the elements begin + l, begin + l + 32 and so on, if they are before the end.
// Hint 3. The end of a segment is begins[s + 1], and not its length.

__global__ void segment_sums(const int* x, const int* begins, int segments, int* sums) {
  const int s = blockIdx.x * 2 + threadIdx.x / 32, warp_thread = threadIdx.x % 32;
  if (s >= segments) return;
  int sum = x[begins[s] + warp_thread];  // What if the segment is shorter, or longer?
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (warp_thread == 0) sums[s] = sum;
}
