// SPDX-License-Identifier: Apache-2.0
// The exact sum of terms in one launch. Warps sum terms in windows, in registers (window_sums.cuh), and add these
// sums, and terms that fit no window, to the block's chunks in shared memory (shared_sums.cuh). Blocks add their
// chunks to the chunks of the grid in device memory. All of these are integer additions, so their order does not
// matter. The last block to add has the total.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/exact/grid_sums.cuh"
#include "backends/cuda/exact/shapes.hpp"
#include "backends/cuda/exact/tiles.cuh"
#include "backends/cuda/exact/window_sums.cuh"
#include "backends/cuda/runtime/dynamic_shared.cuh"

namespace fanin::cuda {

template <class Terms>
using sums_of = typename block_sums_of<Terms, tuning::exact_many.threads / 32>::sums;

/// The bytes at the beginning of a block's dynamic shared memory that hold the block's sums. Only sums that do not
/// fit into the 48 KiB of static shared memory are there.
template <class Terms>
constexpr std::size_t dynamic_block_bytes = [] {
  constexpr std::size_t bytes = sizeof(block_sums_of<Terms, tuning::exact_many.threads / 32>);
  return bytes + sizeof(sums_of<Terms>) + 1024 > 48 * 1024 ? (bytes + 127) / 128 * 128 : 0;
}();

/// `total`, in device memory, is all 0 before and after. The warps of a block draw turns at tiles of the vectors.
/// If Slots > 0 and the code is for compute capability 9.0, bulk copies bring the tiles into rings in the block's
/// dynamic shared memory. Otherwise the warps draw turns at the first `whole_tiles` tiles, and each thread has up
/// to ThreadVectors of the remaining vectors as its first tile. The last block calls write(chunks) with the total in
/// shared memory.
template <class Terms, int ThreadVectors, int Slots, class Write>
__global__ void __launch_bounds__(tuning::exact_many.threads, tuning::exact_many.blocks_per_multiprocessor)
    exact_kernel(const peeled_array<typename Terms::element> x, const Terms terms, std::uint64_t whole_tiles,
                 sums_of<Terms>* total, unsigned* ticket, const Write write) {
  constexpr int threads = tuning::exact_many.threads;
  constexpr int warps = threads / 32;
  using block_sums = block_sums_of<Terms, warps>;
  block_sums* block_memory;
  if constexpr (dynamic_block_bytes < Terms >> 0) {
    block_memory = dynamic_shared<block_sums>();
  } else {
    __shared__ block_sums memory;
    block_memory = &memory;
  }
  block_sums& block = *block_memory;
  __shared__ sums_of<Terms> result;
  __shared__ unsigned turns_taken;  // by the warps of this block
  const unsigned warp = threadIdx.x / 32;
  const auto clear = [&](unsigned first_turns) {
    block.clear();
    if (threadIdx.x == 0) turns_taken = first_turns;
    __syncthreads();
  };

  window_sums<Terms, warps, ThreadVectors> sums(terms, block, total);
  [[maybe_unused]] const auto add_loaded = [&] {
    clear(warps);
    overlap_with_next_launch();
    const unsigned stride = gridDim.x * threads;
    const std::uint64_t i = whole_tiles * (32 * ThreadVectors) + blockIdx.x * threads + threadIdx.x;
    const int count = i < x.vectors ? static_cast<int>((x.vectors - 1 - i) / stride) + 1 : 0;
    loaded_tiles<Terms, ThreadVectors> loaded(terms, x.body + i, stride, count, x.body,
                                              tile_turns(whole_tiles, warp, turns_taken));
    sums.add(loaded);
  };
  if constexpr (Slots == 0) {
    add_loaded();
  } else {
    [[maybe_unused]] const auto add_copied = [&] {
      using tiles = copied_tiles<Terms, ThreadVectors, Slots>;
      auto* const rings =
          reinterpret_cast<typename tiles::ring*>(dynamic_shared<std::byte>() + dynamic_block_bytes<Terms>);
      tiles copied(rings[warp], x.body, x.vectors, turns_taken);
      clear(Slots * warps);
      overlap_with_next_launch();
      copied.start();
      copied.begin();
      sums.add(copied);
    };
    NV_IF_ELSE_TARGET(NV_PROVIDES_SM_90, (add_copied();), (add_loaded();))
  }
  if (blockIdx.x == 0) {
    const bool in_head = threadIdx.x < x.head_count;
    sums.add_end(in_head ? x.head + threadIdx.x : x.tail + (threadIdx.x - x.head_count),
                 threadIdx.x < x.head_count + x.tail_count);
  }
  sums.finish();
  __syncthreads();

  finish_grid<threads>(block, result, total, ticket, write);
}

}  // namespace fanin::cuda
