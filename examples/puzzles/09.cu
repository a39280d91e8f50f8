// SPDX-License-Identifier: Apache-2.0
// Puzzle 09: rows with one warp each
//
// x has rows of `columns` elements each, one after the other. sums[r] is the sum of row r. A block of 64 threads
// has two warps, and each warp adds one row.
//
// The skeleton takes one thread for each row: neighbouring threads read far from each other, and the other threads
// of the warp have nothing to do. Read a row by the 32 threads of a warp.
//
// Hint 1. The row is the number of the warp in the grid: blockIdx.x * 2 + threadIdx.x / 32.
// Hint 2. Thread l of the warp adds the columns l, l + 32, l + 64 and so on. Then the warp adds the sums of its
//   threads by shuffles.
// Hint 3. There may be a warp more than rows. All its threads may return together.

__global__ void rows_by_warps(const int* x, int rows, int columns, int* sums) {
  const int row = blockIdx.x * 2 + threadIdx.x;  // Which row does this warp add?
  if (threadIdx.x >= 2 || row >= rows) return;
  int sum = 0;
  for (int c = 0; c < columns; ++c) sum += x[row * columns + c];
  sums[row] = sum;
}
