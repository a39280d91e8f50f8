// SPDX-License-Identifier: Apache-2.0
// Puzzle 02: many elements each thread (rung 19 of the lesson)
//
// The grid has 2 blocks of 32 threads, so 64 threads, however many elements there are. Thread t adds the elements
// t, t + 64, t + 128 and so on, and writes its sum to sums[t]. A thread without elements writes 0.
//
// 32 neighbouring threads of a block are a warp. A warp runs one instruction at a time for all its threads.
// The skeleton gives each thread neighbouring elements. Those are other sums, and they are slow: the threads of a
// warp then read far from each other, and each thread needs a memory transaction (32 bytes) of its own.
//
// Hint 1. Begin at the number of the thread in the grid.
// Hint 2. The step is the number of threads in the grid: gridDim.x * blockDim.x.
// Hint 3. A loop that begins behind the end adds nothing, so that no thread needs an if.

__global__ void many_each(const int* x, int n, int* sums) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int each = n / 64;
  int sum = 0;
  for (int i = t * each; i < (t + 1) * each; ++i) {  // Where does it begin, and how far is a step?
    sum += x[i];
  }
  sums[t] = sum;
}
