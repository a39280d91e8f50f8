// The exact sum of terms in one launch: windows in registers, chunks in shared memory, and chunks in device memory
// to which all blocks add. Integer additions throughout, so the order of blocks does not matter. The last block
// finishes.
#pragma once

#include "backends/cuda/fold_kernel.cuh"
#include "backends/cuda/window_sums.cuh"

namespace fanin::cuda {

/// Adds 1 to a number in shared memory, in the first lane of a warp, where it returns what was there. Unlike with
/// atomicAdd the compiler does not make the warp wait for that.
__device__ inline unsigned take_turn(unsigned& turns) {
  unsigned before = 0;
  if (threadIdx.x % 32 == 0) {
    asm volatile("atom.shared.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&turns)))
                 : "memory");
  }
  return before;
}

/// `total` is in device memory and all 0, before and after. Warps take turns at the first `whole_batches` batches of
/// the vectors, and the others are one batch of each lane. Calls write(chunks) in the last block, with its chunks in
/// shared memory.
template <class Terms, int Most, class Write>
__global__ void __launch_bounds__(tuning::exact_many.threads, tuning::exact_many.blocks_per_multiprocessor)
    exact_kernel(const peeled_array<typename Terms::element> x, const Terms terms, std::uint64_t whole_batches,
                 chunk_sums<typename Terms::element, Terms::power>* total, unsigned* ticket, const Write write) {
  using T = typename Terms::element;
  constexpr int Power = Terms::power;
  constexpr int threads = tuning::exact_many.threads;
  constexpr int warps = threads / 32;
  constexpr unsigned batch_vectors = 32 * Most;
  using block_sums = lane_sums<T, warps, Power>;
  constexpr int chunks = chunk_sums<T, Power>::count;
  __shared__ block_sums block;
  __shared__ chunk_sums<T, Power> result;
  __shared__ unsigned turns;  // that warps of this block have taken
  block.clear();
  if (threadIdx.x == 0) turns = 0;
  __syncthreads();
  take_over();

  unsigned turn = take_turn(turns);  // early: the answer takes a while
  const auto next = [&]() -> const vector<T>* {
    const std::uint64_t batch = blockIdx.x + std::uint64_t{__shfl_sync(0xffffffffu, turn, 0)} * gridDim.x;
    if (batch >= whole_batches) return nullptr;
    turn = take_turn(turns);
    return x.body + batch * batch_vectors + threadIdx.x % 32;
  };
  const unsigned stride = gridDim.x * threads;
  const std::uint64_t i = whole_batches * batch_vectors + blockIdx.x * threads + threadIdx.x;
  const int count = i < x.vectors ? static_cast<int>((x.vectors - 1 - i) / stride) + 1 : 0;
  using window_sums = cuda::window_sums<Terms, warps, Most>;
  window_sums sums(terms, block, total);
  sums.add({x.body + i, stride, count}, next);
  if (blockIdx.x == 0) {
    const bool in_head = threadIdx.x < x.head_count;
    sums.add_end(in_head ? x.head + threadIdx.x : x.tail + (threadIdx.x - x.head_count),
                 threadIdx.x < x.head_count + x.tail_count);
  }
  sums.finish();
  __syncthreads();

  if (gridDim.x == 1 && whole_batches <= window_sums::most_without_drain) {
    block.for_each_chunk([&](int i, std::int64_t sum) { result.chunk[i] = sum; });
    if (threadIdx.x == 0) result.seen = block.seen();
  } else {
    block.for_each_chunk([&](int i, std::int64_t sum) { block_sums::add_to(total->chunk[i], sum); });
    if (threadIdx.x == 0) atomicOr(&total->seen, block.seen());
    __syncthreads();
    if (!is_last_block(ticket)) return;
#pragma unroll 1
    for (int i = threadIdx.x; i < chunks; i += threads) {
      result.chunk[i] =
          static_cast<std::int64_t>(atomicExch(reinterpret_cast<unsigned long long*>(&total->chunk[i]), 0ull));
    }
    if (threadIdx.x == 0) result.seen = atomicExch(&total->seen, 0u);
  }
  __syncthreads();
  write(result);
}

}  // namespace fanin::cuda
