// The exact sum in one launch: windows in registers, chunks in shared memory, and chunks in device memory to which
// all blocks add. Integer additions throughout, so the order of blocks does not matter. The last block finishes.
#pragma once

#include "backends/cuda/fold_kernel.cuh"
#include "backends/cuda/window_sums.cuh"

namespace fanin::cuda {

/// `total` is in device memory and all 0, before and after. Calls write(chunks) in the last block, with its chunks in
/// shared memory.
template <class T, class Write>
__global__ void __launch_bounds__(tuning::exact_shape.threads, tuning::exact_shape.blocks_per_multiprocessor)
    exact_kernel(const peeled_array<T> x, std::uint64_t rounds, chunk_sums<T>* total, unsigned* ticket,
                 const Write write) {
  constexpr int threads = tuning::exact_shape.threads;
  constexpr int warps = threads / 32;
  constexpr int most = batch<T>::most;
  __shared__ lane_sums<T, warps> block;
  __shared__ chunk_sums<T> result;
  block.clear();
  __syncthreads();
  take_over();

  const std::uint64_t turn = std::uint64_t{gridDim.x} * threads;
  window_sums<T, warps> sums(block, total);
  vector<T> ahead[most];
  if (rounds > 0) {
    batch<T> now{x.body + std::uint64_t{blockIdx.x} * (threads * most) + threadIdx.x, threads, most};
#pragma unroll
    for (int k = 0; k < most; ++k) ahead[k] = load(now.first + k * threads);
    sums.look_at(ahead);
#pragma unroll 1
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const vector<T>* const following = round + 1 < rounds ? now.first + turn * most : now.first;
      sums.add(now, ahead, [&](int k) { return load(following + k * threads); });
      now.first = following;
    }
  }
  const std::uint64_t i = rounds * most * turn + blockIdx.x * threads + threadIdx.x;
  int count = 0;
  while (count < most && i + count * turn < x.vectors) ++count;
  const batch<T> last{x.body + i, turn, count};
#pragma unroll
  for (int k = 0; k < most; ++k) ahead[k] = last.at(k);
  if (rounds == 0) sums.look_at(ahead);
  sums.add(last, ahead, [](int) { return nothing<T>(); });
  if (blockIdx.x == 0) {
    sums.add_end(x.head + threadIdx.x, threadIdx.x < x.head_count);
    sums.add_end(x.tail + threadIdx.x, threadIdx.x < x.tail_count);
  }
  sums.finish();
  __syncthreads();

  if (gridDim.x == 1 && rounds <= 1) {  // so few elements that nothing was drained
    block.for_each_chunk([&](int i, std::int64_t sum) { result.chunk[i] = sum; });
    if (threadIdx.x == 0) result.seen = block.seen();
  } else {
    block.for_each_chunk([&](int i, std::int64_t sum) { lane_sums<T, warps>::add_to(total->chunk[i], sum); });
    if (threadIdx.x == 0) atomicOr(&total->seen, block.seen());
    __syncthreads();
    if (!is_last_block(ticket)) return;
    for (int i = threadIdx.x; i < chunk_sums<T>::count; i += threads) {
      result.chunk[i] =
          static_cast<std::int64_t>(atomicExch(reinterpret_cast<unsigned long long*>(&total->chunk[i]), 0ull));
    }
    if (threadIdx.x == 0) result.seen = atomicExch(&total->seen, 0u);
  }
  __syncthreads();
  write(result);
}

}  // namespace fanin::cuda
