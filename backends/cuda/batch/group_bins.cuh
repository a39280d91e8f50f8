// SPDX-License-Identifier: Apache-2.0
// If there are more groups than a table has, elements are first sorted by bins of neighbouring groups, in tiles. A
// tile is a part of the input that fits into shared memory. A block sorts a tile, which stays at its place. So no
// pass has to count the keys before, and a bin has a piece of each tile. Within a piece elements have any order. The
// sort is left out if elements are in the order of bins already.
#pragma once

#include <cuda_pipeline.h>

#include "backends/cuda/batch/group_sums.cuh"
#include "backends/cuda/runtime/dynamic_shared.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned most_bins = 512, clear_threads = 512;
inline constexpr unsigned sort_threads = 512;
inline constexpr int sort_blocks = 2;  ///< blocks on a multiprocessor
/// A tile has so many times four elements of each thread.
template <class T>
inline constexpr int sort_loads = sizeof(T) == 4 ? 5 : 3;
}  // namespace tuning

/// The elements of a tile.
template <class T>
inline constexpr unsigned tile_elements = tuning::sort_threads* tuning::sort_loads<T> * 4;

/// Tiles whose elements are in the order of bins. A key is the number of the group within its bin. Elements in no
/// group are left out.
template <class T>
struct sorted_tiles {
  std::uint16_t* keys;
  T* x;
  std::uint16_t* places;       ///< for each bin, and for their end, where in each tile its piece begins
  unsigned long long* totals;  ///< the elements of each bin; 0 before
  std::uint64_t* starts;       ///< for each bin, the elements before the piece of each tile; then all elements
  unsigned count;              ///< the number of tiles
};

/// Finds the first element of each bin in keys that ascend, if a sample of them does. A thread is for a bin.
template <class T>
__global__ void __launch_bounds__(tuning::most_bins)
    find_begins(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                const bin_map bins, std::uint64_t* begins) {
  device_code::overlap_with_next_launch();
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
__global__ void __launch_bounds__(tuning::clear_threads) start_again(const __grid_constant__ group_sums<T> to) {
  device_code::overlap_with_next_launch();
  if (to.notes->in_order == 0 || to.notes->scattered == 0) return;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::uint64_t g = first; g < to.groups; g += std::uint64_t{gridDim.x} * blockDim.x) {
    for (int w = 0; w < group_window<T>::words; ++w) to.word(0, w)[g] = 0;
    if (to.counts != nullptr) to.counts[g] = 0;
  }
  if (first == 0) to.notes->spill_count = 0;
}

/// The sum of the x of all threads before this thread, which is thread t of a block of `Threads`. `total` is the
/// sum of the x of all threads.
template <unsigned Threads>
__device__ std::uint64_t sum_before(std::uint64_t x, std::uint64_t& total) {
  __shared__ std::uint64_t of_warp[32];
  const unsigned warp_thread = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint64_t sum = x;
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const std::uint64_t other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (warp_thread >= distance) sum += other;
  }
  __syncthreads();
  if (warp_thread == 31) of_warp[warp] = sum;
  __syncthreads();
  std::uint64_t before = 0;
  total = 0;
  for (unsigned w = 0; w < Threads / 32; ++w) {
    if (w < warp) before += of_warp[w];
    total += of_warp[w];
  }
  return before + sum - x;
}

/// The shared memory of sort_tiles.
template <class T>
struct tile_stage {
  T x[tile_elements<T>];
  std::uint16_t key[tile_elements<T>];
  unsigned begins[tuning::most_bins];    ///< elements of each bin, then the place of the bin's first element
  four<T> loaded[tile_elements<T> / 4];  ///< elements as they are in the input

  /// Begins to copy the elements i, ..., i + 3 to loaded[place]. The thread that called waits for the copy.
  __device__ void load(unsigned place, std::uint64_t i, const keyed_words& from) {
    const T* const x = static_cast<const T*>(from.words);
    if (!from.aligned || i + 4 > from.count) {
      loaded[place] = load_four(x, i, from.count, false);
      return;
    }
#pragma unroll
    for (unsigned byte = 0; byte < sizeof(four<T>); byte += 16) {
      __pipeline_memcpy_async(reinterpret_cast<std::byte*>(&loaded[place]) + byte,
                              reinterpret_cast<const std::byte*>(x + i) + byte, 16);
    }
  }
};

/// Copies `count` words from shared memory in units of 16 bytes. The last unit may be longer than the words.
template <class Word>
__device__ void copy_tile(const Word* from, Word* to, std::uint64_t count) {
  const std::uint64_t units = (count * sizeof(Word) + sizeof(uint4) - 1) / sizeof(uint4);
  for (std::uint64_t i = threadIdx.x; i < units; i += tuning::sort_threads) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

/// Sorts a tile, whose elements are of type T, and notes keys of no group. A block is for a tile.
template <class T, class Key>
__global__ void __launch_bounds__(tuning::sort_threads, tuning::sort_blocks)
    sort_tiles(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
               const bin_map bins, const __grid_constant__ sorted_tiles<T> out) {
  constexpr int loads = tuning::sort_loads<T>;
  constexpr unsigned threads = tuning::sort_threads;
  static_assert(threads == tuning::most_bins);
  device_code::overlap_with_next_launch();
  if (to.notes->scattered == 0) return;
  tile_stage<T>& stage = *dynamic_shared<tile_stage<T>>();
  const unsigned bin = threadIdx.x;
  stage.begins[bin] = 0;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * tile_elements<T>;
  const auto place_of = [](int k) { return static_cast<unsigned>(k) * threads + threadIdx.x; };
  const auto element_of = [&](int k) { return first + std::uint64_t{place_of(k)} * 4; };
#pragma unroll
  for (int k = 0; k < loads; ++k) stage.load(place_of(k), element_of(k), from);
  __pipeline_commit();
  four_keys<Key> keys[loads];
#pragma unroll
  for (int k = 0; k < loads; ++k) keys[k].load(element_of(k), from);
  std::uint32_t group[loads][4];
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    const std::uint64_t i = element_of(k);
    keys[k].find_groups(from, group[k]);
    leave_out_missing(group[k], i, from.count);
    note_outside(group[k], i, from);
  }
  __syncthreads();
  unsigned ranks[loads][2] = {};  // of elements in their bins, two in a word
#pragma unroll
  for (int k = 0; k < loads; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t g = group[k][j];
      if (g != no_group) ranks[k][j / 2] |= atomicAdd(&stage.begins[bins.bin_of(g)], 1u) << 16 * (j % 2);
    }
  }
  __syncthreads();
  const unsigned in_bin = stage.begins[bin];
  std::uint64_t staged;
  const auto before = static_cast<unsigned>(sum_before<threads>(in_bin, staged));
  stage.begins[bin] = before;
  if (bin <= bins.count) out.places[std::uint64_t{bin} * out.count + blockIdx.x] = static_cast<std::uint16_t>(before);
  if (in_bin != 0) atomicAdd(out.totals + bin, static_cast<unsigned long long>(in_bin));
  __pipeline_wait_prior(0);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < loads; ++k) {
    four<T> x = stage.loaded[place_of(k)];
    from.make_terms(x.at);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t g = group[k][j];
      if (g == no_group) continue;
      const std::uint32_t of = bins.bin_of(g);
      const unsigned place = stage.begins[of] + (ranks[k][j / 2] >> 16 * (j % 2) & 0xffff);
      stage.x[place] = x.at[j];
      stage.key[place] = static_cast<std::uint16_t>(g - of * bins.groups_of_bin());
    }
  }
  __syncthreads();
  copy_tile(stage.x, out.x + first, staged);
  copy_tile(stage.key, out.keys + first, staged);
}

inline constexpr unsigned start_threads = 1024;
/// Finds out how many elements there are before each piece. A block is for a bin, and a thread for neighbouring
/// tiles.
template <class T>
__global__ void __launch_bounds__(start_threads)
    find_starts(const __grid_constant__ sorted_tiles<T> tiles, const group_notes* notes, std::uint64_t* bin_begins) {
  device_code::overlap_with_next_launch();
  if (notes->scattered == 0) return;
  std::uint64_t earlier = 0, begin, in_bin, mine = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += start_threads) earlier += tiles.totals[b];
  sum_before<start_threads>(earlier, begin);
  const std::uint64_t row = std::uint64_t{blockIdx.x} * tiles.count;
  const auto length = [&](unsigned t) {
    return static_cast<unsigned>(tiles.places[row + tiles.count + t] - tiles.places[row + t]);
  };
  const unsigned each = (tiles.count - 1) / start_threads + 1;
  const unsigned first = ::min(threadIdx.x * each, tiles.count), last = ::min(first + each, tiles.count);
  for (unsigned t = first; t < last; ++t) mine += length(t);
  std::uint64_t start = begin + sum_before<start_threads>(mine, in_bin);
  for (unsigned t = first; t < last; ++t) {
    tiles.starts[row + t] = start;
    start += length(t);
  }
  if (threadIdx.x > 0) return;
  bin_begins[blockIdx.x] = begin;
  if (blockIdx.x + 1 < gridDim.x) return;
  bin_begins[gridDim.x] = tiles.starts[row + tiles.count] = begin + in_bin;
}

}  // namespace fanin::cuda
