// SPDX-License-Identifier: Apache-2.0
// Where there are more groups than a table has, elements are first sorted by bins of neighbouring groups, in any
// order within a bin. Each block counts the keys of its share, the counts say where each block puts the elements of
// each bin, and the blocks put them there. That is left out if elements stand in the order of bins already.
#pragma once

#include "backends/cuda/batch/group_sums.cuh"
#include "backends/cuda/runtime/dynamic_shared.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned bin_threads = 512, most_bins = 2 * bin_threads;
inline constexpr int bin_blocks = 2;  ///< of a multiprocessor
/// Times four elements of a thread that a block sorts together.
template <class T>
inline constexpr int bin_loads = sizeof(T) == 4 ? 4 : 2;
}  // namespace tuning

/// Bins of 2^group_bits groups. `counts`: for each bin, the elements of each block. `starts`: in the same order,
/// where they go. `begins`: where each bin begins, and where the last one ends.
struct bin_shape {
  std::uint32_t bins;
  int group_bits;
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

template <class T, class Key>
__global__ void __launch_bounds__(tuning::bin_threads, tuning::bin_blocks)
    count_bins(const __grid_constant__ keyed_elements<T, Key> from, const __grid_constant__ group_sums<T> to,
               const __grid_constant__ bin_shape shape) {
  constexpr int at_once = 2;
  constexpr unsigned stride = tuning::bin_threads * 4;
  constexpr std::uint32_t no_bin = ~std::uint32_t{0};
  __shared__ unsigned count[tuning::most_bins];
  for (unsigned b = threadIdx.x; b < shape.bins; b += tuning::bin_threads) count[b] = 0;
  __syncthreads();
  const block_share share(from.count);
  std::uint32_t run_bin = no_bin;
  unsigned run = 0;
  const auto end_run = [&] {
    if (run_bin != no_bin) atomicAdd(&count[run_bin], run);
    run = 0;
  };
  bool descends = false;
  for (std::uint64_t i0 = share.begin + threadIdx.x * 4; i0 < share.end; i0 += stride * at_once) {
    four<Key> keys[at_once];
    Key before[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = i0 + k * stride;
      if (i >= share.end) continue;
      keys[k] = load_four(from.keys, i, from.count, from.aligned);
      before[k] = from.keys[i == 0 ? 0 : i - 1];
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const std::uint64_t i = i0 + k * stride;
      if (i >= share.end) continue;
      std::uint32_t bin[4];
      Key last = before[k] >> shape.group_bits;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const bool exists = i + j < share.end, is_in_group = keys[k].at[j] < to.groups;
        bin[j] = exists && is_in_group ? static_cast<std::uint32_t>(keys[k].at[j]) >> shape.group_bits : no_bin;
        if (!exists) continue;
        if (!is_in_group) note_outside(to.drops_others, i + j, to.status);
        const Key next = keys[k].at[j] >> shape.group_bits;
        descends = descends || !is_in_group || last > next;
        last = next;
      }
      if (bin[0] == bin[1] && bin[1] == bin[2] && bin[2] == bin[3]) {
        if (bin[0] != run_bin) {
          end_run();
          run_bin = bin[0];
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
  end_run();
  if (__any_sync(0xffffffffu, descends) && threadIdx.x % 32 == 0) to.notes->scattered = 1;
  __syncthreads();
  for (unsigned b = threadIdx.x; b < shape.bins; b += tuning::bin_threads) {
    shape.counts[std::uint64_t{b} * gridDim.x + blockIdx.x] = count[b];
  }
}

/// The sum of x of the threads before this one, which is thread t of a block of `Threads`; `total` is that of all.
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
    find_starts(const __grid_constant__ bin_shape shape, unsigned blocks) {
  const std::uint64_t row = std::uint64_t{blockIdx.x} * blocks;
  std::uint64_t earlier = 0, begin, in_bin;
  for (std::uint64_t i = threadIdx.x; i < row; i += start_threads) earlier += shape.counts[i];
  sum_before<start_threads>(earlier, begin);
  const std::uint64_t before =
      sum_before<start_threads>(threadIdx.x < blocks ? shape.counts[row + threadIdx.x] : 0, in_bin);
  if (threadIdx.x < blocks) shape.starts[row + threadIdx.x] = begin + before;
  if (threadIdx.x > 0) return;
  shape.begins[blockIdx.x] = begin;
  if (blockIdx.x + 1 == gridDim.x) shape.begins[gridDim.x] = begin + in_bin;
}

/// Elements in the order of bins. Keys are those within their bin.
template <class T>
struct sorted_by_bins {
  std::uint16_t* keys;
  T* x;
};

/// The shared memory of scatter_to_bins.
template <class T>
struct bin_stage {
  static constexpr unsigned most = tuning::bin_threads * tuning::bin_loads<T> * 4;
  T x[most];
  std::uint32_t group[most];
  std::uint64_t next[tuning::most_bins];   ///< where the block's next elements of each bin go
  std::uint64_t shift[tuning::most_bins];  ///< from an element's place in the stage to its place in the array
  unsigned count[tuning::most_bins], before[tuning::most_bins];
};

template <class T, class Key>
__global__ void __launch_bounds__(tuning::bin_threads, tuning::bin_blocks)
    scatter_to_bins(const __grid_constant__ keyed_elements<T, Key> from, const __grid_constant__ group_sums<T> to,
                    const __grid_constant__ bin_shape shape, const sorted_by_bins<T> out) {
  constexpr int loads = tuning::bin_loads<T>;
  constexpr unsigned threads = tuning::bin_threads;
  if (to.notes->scattered == 0) return;
  bin_stage<T>& stage = *dynamic_shared<bin_stage<T>>();
  for (unsigned b = threadIdx.x; b < tuning::most_bins; b += threads) {
    stage.count[b] = 0;
    if (b < shape.bins) stage.next[b] = shape.starts[std::uint64_t{b} * gridDim.x + blockIdx.x];
  }
  __syncthreads();
  const block_share share(from.count);
  for (std::uint64_t first = share.begin; first < share.end; first += stage.most) {
    std::uint32_t group[loads * 4];
    std::uint16_t rank[loads * 4];  // among the stage's elements of a bin
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::uint64_t i = first + (k * threads + threadIdx.x) * 4;
      four<Key> keys;
      if (i < share.end) keys = load_four(from.keys, i, from.count, from.aligned);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        group[k * 4 + j] =
            i + j < share.end && keys.at[j] < to.groups ? static_cast<std::uint32_t>(keys.at[j]) : ~std::uint32_t{0};
      }
    }
#pragma unroll
    for (int e = 0; e < loads * 4; ++e) {
      if (group[e] != ~std::uint32_t{0}) {
        rank[e] = static_cast<std::uint16_t>(atomicAdd(&stage.count[group[e] >> shape.group_bits], 1u));
      }
    }
    __syncthreads();
    const unsigned b = threadIdx.x * 2, counts[2] = {stage.count[b], stage.count[b + 1]};
    std::uint64_t staged;
    auto before = static_cast<unsigned>(sum_before<threads>(counts[0] + counts[1], staged));
#pragma unroll
    for (unsigned k = 0; k < 2; ++k) {
      stage.before[b + k] = before;
      stage.count[b + k] = 0;
      if (b + k < shape.bins) {
        stage.shift[b + k] = stage.next[b + k] - before;
        stage.next[b + k] += counts[k];
      }
      before += counts[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::uint64_t i = first + (k * threads + threadIdx.x) * 4;
      if (i >= share.end) continue;
      const four<T> x = load_four(from.x, i, from.count, from.aligned);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t g = group[k * 4 + j];
        if (g == ~std::uint32_t{0}) continue;
        const unsigned place = stage.before[g >> shape.group_bits] + rank[k * 4 + j];
        stage.x[place] = x.at[j];
        stage.group[place] = g;
      }
    }
    __syncthreads();
    for (unsigned place = threadIdx.x; place < staged; place += threads) {
      const std::uint32_t g = stage.group[place];
      const std::uint64_t to_place = stage.shift[g >> shape.group_bits] + place;
      out.x[to_place] = stage.x[place];
      out.keys[to_place] = static_cast<std::uint16_t>(g & ((1u << shape.group_bits) - 1));
    }
    __syncthreads();
  }
}

}  // namespace fanin::cuda
