// SPDX-License-Identifier: Apache-2.0
// Sums of groups whose elements are sorted by bins in tiles: a block adds the pieces of a bin to its table.
#pragma once

#include "backends/cuda/batch/group_bins.cuh"
#include "backends/cuda/batch/group_tables.cuh"

namespace fanin::cuda {

namespace tuning {
/// A thread loads so many elements before it adds the first.
template <class T>
inline constexpr int piece_loads = sizeof(T) == 4 ? 8 : 4;
}  // namespace tuning

/// The last of `count` ascending numbers that is at most x. The first one is.
__device__ inline unsigned last_at_most(const std::uint64_t* numbers, unsigned count, std::uint64_t x) {
  unsigned low = 0;
  for (unsigned above = count; above - low > 1;) {
    const unsigned middle = (low + above) / 2;
    (numbers[middle] <= x ? low : above) = middle;
  }
  return low;
}

/// Adds a piece, of which a thread has each `stride`-th element from `i` on.
template <class T>
__device__ bool add_piece(const std::uint16_t* keys, const T* x, unsigned i, unsigned count, unsigned stride,
                          const group_sums<T>& to, binades_of_window window, bool spills, std::uint32_t first,
                          run_of_keys<T>& run, typename run_of_keys<T>::table_of_block& table) {
  using sum = typename group_window<T>::sum;
  constexpr int loads = tuning::piece_loads<T>;
  bool minus_zeros = false;
  for (; i < count; i += stride * loads) {
    std::uint16_t key[loads];
    T loaded[loads];
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const unsigned place = ::min(i + k * stride, count - 1);
      key[k] = __ldcs(keys + place);
      loaded[k] = __ldcs(x + place);
    }
#pragma unroll
    for (int k = 0; k < loads; k += 4) {
      std::uint32_t group[4];
      T four[4];
      sum value[4];
      unsigned odd = 0;  // bits of elements that are 0 or outside of the window
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const bool exists = i + (k + j) * stride < count;
        const T one = loaded[k + j];
        const unsigned place = biased_exponent(one) - window.lowest;
        const bool fits = place < window.count;
        group[j] = exists ? key[k + j] : no_group;
        value[j] = in_units(one, place, to.spare_bits, exists && fits);
        four[j] = one;
        if (exists && !fits) odd |= 1u << j;
      }
      if (odd != 0) minus_zeros |= spill_odd(to, odd, first, group, four, spills);
      if (group[0] == group[1] && group[1] == group[2] && group[2] == group[3]) {
        run.add(table, group[0], value);
      } else {
        table.add(group, value, 1);
      }
    }
  }
  return minus_zeros;
}

/// Adds the elements in a window to the sums of their groups, and for the first window lists the other elements. Each
/// block has an equal share of the elements, and in it each warp. `piece_threads` threads read a piece together.
template <class T>
__global__ void __launch_bounds__(tuning::table_threads, 1)
    add_tiles(const __grid_constant__ sorted_tiles<T> tiles, const __grid_constant__ group_sums<T> to,
              const __grid_constant__ table_shape shape, unsigned piece_threads) {
  constexpr unsigned warps = tuning::table_threads / 32;
  const bool is_first = shape.window == 0;
  device_code::overlap_with_next_launch();
  if (to.notes->scattered == 0 || (!is_first && !to.has_more_windows())) return;
  const binades_of_window window = to.binades_of(shape.window, shape.window);
  const unsigned warp_thread = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint64_t count = shape.bin_begins[shape.bins];
  const std::uint64_t last = count * (blockIdx.x + 1) / gridDim.x;
  const table_rows rows{to.word(shape.window, 0), to.counts, to.groups};
  typename run_of_keys<T>::table_of_block table(shape.in_bin, shape.copies_log2, is_first && to.counts != nullptr);
  bool minus_zeros = false;
  for (std::uint64_t begin = count * blockIdx.x / gridDim.x, end; begin < last; begin = end) {
    const unsigned bin = last_at_most(shape.bin_begins, shape.bins, begin);
    end = ::min(begin + (std::uint64_t{1} << most_elements_log2), ::min(last, shape.bin_begins[bin + 1]));
    const std::uint32_t first = bin * shape.in_bin, groups = ::min(shape.in_bin, to.groups - first);
    const std::uint64_t row = std::uint64_t{bin} * tiles.count;
    const std::uint64_t* const starts = tiles.starts + row;
    const std::uint64_t from = begin + (end - begin) * warp / warps,
                        stop = begin + (end - begin) * (warp + 1) / warps;
    run_of_keys<T> run;
    unsigned tile = from < stop ? last_at_most(starts, tiles.count, from) : tiles.count;
    for (; tile < tiles.count && starts[tile] < stop; tile += 32) {
      // Each thread has the place and the length of a piece.
      const unsigned mine = ::min(tile + warp_thread, tiles.count - 1);
      const std::uint64_t my_begin = ::max(starts[mine], from), my_end = ::min(starts[mine + 1], stop);
      const unsigned my_count = tile + warp_thread < tiles.count && my_begin < my_end ? my_end - my_begin : 0;
      const std::uint64_t my_place =
          std::uint64_t{mine} * tile_elements<T> + tiles.places[row + mine] + (my_begin - starts[mine]);
      for (unsigned piece = warp_thread / piece_threads; piece < 32; piece += 32 / piece_threads) {
        const unsigned in_piece = __shfl_sync(0xffffffffu, my_count, piece);
        const std::uint64_t place = __shfl_sync(0xffffffffu, my_place, piece);
        minus_zeros |= add_piece(tiles.keys + place, tiles.x + place, warp_thread % piece_threads, in_piece,
                                 piece_threads, to, window, is_first, first, run, table);
      }
    }
    run.end(table);
    table.flush(rows, first, groups);
  }
  if (__any_sync(0xffffffffu, minus_zeros) && warp_thread == 0) atomicOr(&to.notes->needs_marks, 1u);
}

}  // namespace fanin::cuda
