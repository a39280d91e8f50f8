// SPDX-License-Identifier: Apache-2.0
// Puzzle 01: add two elements each thread
//
// Each thread adds two neighbouring elements: y[i] = x[2 i] + x[2 i + 1]. If n is odd, the last element of y is
// the last element of x. y has (n + 1) / 2 elements. There are at least as many threads as elements of y, in
// blocks of 64.
//
// __global__ marks a kernel: a function that all threads run at once. The page of `fanin lesson` explains CUDA in a
// minute. You write no main function: `fanin check` starts the threads and gives them x, n and y. To look inside, a
// kernel may call printf, of <cstdio>.
//
// Hint 1. A thread has the number threadIdx.x in its block. blockIdx.x is the number of the block.
// Hint 2. The number in the whole grid is i = blockIdx.x * blockDim.x + threadIdx.x.
// Hint 3. More threads run than y has elements. A thread whose elements do not exist must not touch memory.

__global__ void two_each(const int* x, int n, int* y) {
  const int i = threadIdx.x;  // Which element of y does this thread compute?
  y[i] = x[2 * i] + x[2 * i + 1];
}
