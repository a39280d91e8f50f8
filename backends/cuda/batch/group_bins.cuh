// SPDX-License-Identifier: Apache-2.0
// If there are more groups than a table has, elements are first sorted by bins of neighbouring groups. Within a
// bin they have any order. Each block counts the keys of its share. From the counts follows the place where each
// block puts the elements of each bin, and the blocks put them there. The sort is left out if elements are in the
// order of bins already.
#pragma once

#include "backends/cuda/batch/group_sums.cuh"
#include "backends/cuda/runtime/dynamic_shared.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned count_threads = 512, most_bins = 512;
inline constexpr int count_blocks = 2;  ///< blocks on a multiprocessor
inline constexpr unsigned scatter_threads = 1024;
/// A block sorts so many times four elements of each thread together.
template <class T>
inline constexpr int scatter_loads = sizeof(T) == 4 ? 6 : 4;
}  // namespace tuning

/// `counts`: for each bin, the elements of each block. `starts`: in the same order, where they go. `begins`: where
/// each bin begins, and where the last one ends.
struct bin_memory {
  std::uint32_t* counts;
  std::uint64_t* starts;
  std::uint64_t* begins;
};

/// The block's share of the elements, from a multiple of 4 on.
struct block_share {
  std::uint64_t begin, end;
  __device__ explicit block_share(std::uint64_t count)
      : begin(count * blockIdx.x / gridDim.x / 4 * 4),
        end(blockIdx.x + 1 == gridDim.x ? count : count * (blockIdx.x + 1) / gridDim.x / 4 * 4) {}
};

/// Finds the first element of each bin in keys that ascend, if a sample of them does. A thread is for a bin.
template <class T>
__global__ void __launch_bounds__(tuning::most_bins)
    find_begins(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                const bin_map bins, std::uint64_t* begins) {
  if (to.notes->in_order == 0 || threadIdx.x > bins.count) return;
  std::uint64_t low = 0, high = threadIdx.x == 0 ? 0 : from.count;
  if (threadIdx.x == bins.count) low = high;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (from.key(middle) < threadIdx.x * bins.groups_of_bin()) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  begins[threadIdx.x] = low;
}

/// Undoes what was added in vain, because keys do not ascend by bins.
template <class T>
__global__ void __launch_bounds__(tuning::count_threads) start_again(const __grid_constant__ group_sums<T> to) {
  if (to.notes->in_order == 0 || to.notes->scattered == 0) return;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t g = first; g < to.groups; g += std::uint64_t{gridDim.x} * blockDim.x) {
    for (int w = 0; w < group_window<T>::words; ++w) to.word(0, w)[g] = 0;
    if (to.counts != nullptr) to.counts[g] = 0;
  }
  if (first == 0) to.notes->spill_count = 0;
}

template <class T, class Key>
__global__ void __launch_bounds__(tuning::count_threads, tuning::count_blocks)
    count_bins(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
               const bin_map bins, std::uint32_t* counts) {
  constexpr int at_once = 2;
  constexpr unsigned stride = tuning::count_threads * 4;
  constexpr std::uint32_t no_bin = ~std::uint32_t{0};
  __shared__ unsigned count[tuning::most_bins];
  if (to.notes->scattered == 0) return;
  for (unsigned b = threadIdx.x; b < bins.count; b += tuning::count_threads) count[b] = 0;
  __syncthreads();
  const block_share share(from.count);
  std::uint32_t run_bin = no_bin;
  unsigned run = 0;
  for (std::uint64_t i0 = share.begin + threadIdx.x * 4; i0 < share.end; i0 += stride * at_once) {
    four_keys<Key> keys[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = i0 + k * stride;
      if (i < share.end) keys[k].load(i, from);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = i0 + k * stride;
      if (i >= share.end) continue;
      std::uint32_t bin[4];
      keys[k].find_groups(from, bin);
      leave_out_missing(bin, i, from.count);
      note_outside(bin, i, from);
#pragma unroll
      for (std::uint32_t& one : bin) one = one != no_group ? bins.bin_of(one) : no_bin;
      if (bin[0] == bin[1] && bin[1] == bin[2] && bin[2] == bin[3]) {
        if (bin[0] != run_bin) {
          if (run_bin != no_bin) atomicAdd(&count[run_bin], run);
          run_bin = bin[0];
          run = 0;
        }
        run += 4;
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (bin[j] != no_bin) atomicAdd(&count[bin[j]], 1u);
        }
      }
    }
  }
  if (run_bin != no_bin) atomicAdd(&count[run_bin], run);
  __syncthreads();
  for (unsigned b = threadIdx.x; b < bins.count; b += tuning::count_threads) {
    counts[std::uint64_t{b} * gridDim.x + blockIdx.x] = count[b];
  }
}

/// The sum of the x of all threads before this thread, which is thread t of a block of `Threads`. `total` is the
/// sum of the x of all threads.
template <unsigned Threads>
__device__ std::uint64_t sum_before(std::uint64_t x, std::uint64_t& total) {
  __shared__ std::uint64_t of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint64_t sum = x;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  __syncthreads();
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  total = 0;
  for (unsigned w = 0; w < Threads / 32; ++w) {
    if (w < warp) before += of_warp[w];
    total += of_warp[w];
  }
  return before + sum - x;
}

inline constexpr unsigned start_threads = 1024;
/// Finds out where the elements of a bin go, for each block. A block of this launch is for a bin, and its threads for
/// the `blocks` blocks that have counted.
static __global__ void __launch_bounds__(start_threads)
    find_starts(const bin_memory memory, unsigned blocks, const group_notes* notes) {
  if (notes->scattered == 0) return;
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blocks;
  std::uint64_t earlier = 0, begin, in_bin;
  for (std::uint64_t i = threadIdx.x; i < row; i += start_threads) earlier += memory.counts[i];
  sum_before<start_threads>(earlier, begin);
  const std::uint64_t before =
      sum_before<start_threads>(threadIdx.x < blocks ? memory.counts[row + threadIdx.x] : 0, in_bin);
  if (threadIdx.x < blocks) memory.starts[row + threadIdx.x] = begin + before;
  if (threadIdx.x > 0) return;
  memory.begins[blockIdx.x] = begin;
  if (blockIdx.x + 1 == gridDim.x) memory.begins[gridDim.x] = begin + in_bin;
}

/// Elements in the order of bins. A key is the number of the group within its bin.
template <class T>
struct sorted_by_bins {
  std::uint16_t* keys;
  T* x;
};

/// The shared memory of scatter_to_bins.
template <class T>
struct bin_stage {
  static constexpr unsigned most = tuning::scatter_threads * tuning::scatter_loads<T> * 4;
  T x[most];
  std::uint32_t group[most];
  std::uint64_t next[tuning::most_bins];   ///< where the block's next elements of each bin go
  std::uint64_t shift[tuning::most_bins];  ///< from an element's place in the stage to its place in the array
  unsigned count[tuning::most_bins];       ///< elements of each bin, then the place of the bin's next element
};

/// The groups of a thread's elements in a stage. The first of them is element i of the input. An element in no
/// group gets no_group.
template <class T, class Key, int Loads>
__device__ void load_groups(std::uint32_t (&group)[Loads * 4], std::uint64_t i, std::uint64_t end,
                            const keyed_numbers<T>& from) {
#pragma unroll
  for (int k = 0; k < Loads; ++k) {
    const std::uint64_t first = i + k * tuning::scatter_threads * 4;
    four<Key> keys{};
    if (first < end) keys = load_four(static_cast<const Key*>(from.keys), first, from.count, from.aligned);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const bool is_in_group = first + j < end && keys.at[j] < from.groups;
      group[k * 4 + j] = is_in_group ? static_cast<std::uint32_t>(keys.at[j]) : no_group;
    }
  }
}

/// Writes elements, which are of type T, to the places of their bins. The grid is the same as for count_bins.
template <class T, class Key>
__global__ void __launch_bounds__(tuning::scatter_threads, 1)
    scatter_to_bins(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                    const bin_map bins, const std::uint64_t* starts, const sorted_by_bins<T> out) {
  constexpr int loads = tuning::scatter_loads<T>;
  constexpr unsigned threads = tuning::scatter_threads;
  if (to.notes->scattered == 0) return;
  bin_stage<T>& stage = *dynamic_shared<bin_stage<T>>();
  const unsigned bin = threadIdx.x;
  if (bin < tuning::most_bins) {
    stage.count[bin] = 0;
    if (bin < bins.count) stage.next[bin] = starts[std::uint64_t{bin} * gridDim.x + blockIdx.x];
  }
  __syncthreads();
  const block_share share(from.count);
  std::uint32_t group[loads * 4];
  load_groups<T, Key, loads>(group, share.begin + threadIdx.x * 4, share.end, from);
  for (std::uint64_t first = share.begin; first < share.end; first += stage.most) {
#pragma unroll
    for (const std::uint32_t g : group) {
      if (g != no_group) atomicAdd(&stage.count[bins.bin_of(g)], 1u);
    }
    __syncthreads();
    const unsigned count = bin < tuning::most_bins ? stage.count[bin] : 0;
    std::uint64_t staged;
    const std::uint64_t before = sum_before<threads>(count, staged);
    if (bin < bins.count) {
      stage.count[bin] = static_cast<unsigned>(before);
      stage.shift[bin] = stage.next[bin] - before;
      stage.next[bin] += count;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::uint64_t i = first + (k * threads + threadIdx.x) * 4;
      if (i >= share.end) continue;
      const four<T> x = load_four(static_cast<const T*>(from.words), i, from.count, from.aligned);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t g = group[k * 4 + j];
        if (g == no_group) continue;
        const unsigned place = atomicAdd(&stage.count[bins.bin_of(g)], 1u);
        stage.x[place] = x.at[j];
        stage.group[place] = g;
      }
    }
    const std::uint64_t next = first + stage.most;
    load_groups<T, Key, loads>(group, next + threadIdx.x * 4, share.end, from);
    __syncthreads();
    for (unsigned place = threadIdx.x; place < staged; place += threads) {
      const std::uint32_t g = stage.group[place], of = bins.bin_of(g);
      const std::uint64_t to_place = stage.shift[of] + place;
      out.x[to_place] = stage.x[place];
      out.keys[to_place] = static_cast<std::uint16_t>(g - of * bins.groups_of_bin());
    }
    if (bin < tuning::most_bins) stage.count[bin] = 0;
    __syncthreads();
  }
}

}  // namespace fanin::cuda
