// SPDX-License-Identifier: Apache-2.0
// Tables of sums in shared memory: each block has one, of the groups of a bin. A thread that reads equal keys in a
// row adds their elements in registers first.
#pragma once

#include "backends/cuda/batch/group_sums.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned table_threads = 1024;
/// A thread loads so many times four elements before it adds the first.
template <class T>
inline constexpr int table_loads = sizeof(T) == 4 ? 2 : 1;
}  // namespace tuning

/// The condition for a launch to do something: always, if sampled keys ascend by bins, or if they do not.
enum class run_if : std::uint8_t { always, in_order, scattered };

/// Bins of `in_bin` groups each. The last bin may have fewer. Without `bin_begins` a block reads all elements of
/// its share, for one bin. With `bin_begins` elements are in the order of bins, and bin b begins at bin_begins[b].
struct table_shape {
  std::uint32_t bins, in_bin;
  int copies_log2;
  const std::uint64_t* bin_begins;
  run_if when;
  int window;
};

/// The sum of a thread's elements with equal keys in a row.
template <class T>
struct run_of_keys {
  using sum = typename group_window<T>::sum;
  using table_of_block = block_table<sum, group_window<T>::words>;
  std::uint32_t group = no_group;
  unsigned count = 0;
  sum x = 0;

  __device__ void end(table_of_block& table) {
    if (group != no_group) table.add({group}, {x}, count);
  }
  /// Adds four elements of one group, or of none.
  __device__ void add(table_of_block& table, std::uint32_t group_of_four, const sum (&four)[4]) {
    if (group_of_four != group) {
      end(table);
      *this = {group_of_four, 0, 0};
    }
    x += (four[0] + four[1]) + (four[2] + four[3]);
    count += 4;
  }
};

/// Adds the elements in a window to the sums of their groups. For the first window, lists the other elements, and
/// notes keys of no group. If elements are said to be in the order of bins, keys out of this order are noted
/// instead.
template <class T, class Key>
__global__ void __launch_bounds__(tuning::table_threads, 1)
    add_to_tables(const __grid_constant__ keyed_numbers<T> from, const __grid_constant__ group_sums<T> to,
                  const __grid_constant__ table_shape shape) {
  using sum = typename group_window<T>::sum;
  constexpr int at_once = tuning::table_loads<T>;
  constexpr unsigned stride = tuning::table_threads * 4;
  device_code::overlap_with_next_launch();
  const bool scattered = to.notes->scattered != 0, is_first = shape.window == 0;
  if (shape.when == run_if::in_order && (scattered || to.notes->in_order == 0)) return;
  if (shape.when == run_if::scattered && !scattered) return;
  if (!is_first && !to.has_more_windows()) return;
  const auto [lowest, binades] = to.binades_of(shape.window, shape.window);
  const bool by_bins = shape.bin_begins != nullptr;
  const unsigned parts = by_bins ? gridDim.x : gridDim.x / shape.bins;
  const unsigned part = by_bins ? blockIdx.x : blockIdx.x / shape.bins;
  if (part >= parts) return;
  const std::uint64_t count = by_bins ? shape.bin_begins[shape.bins] : from.count;
  const std::uint64_t last = count * (part + 1) / parts;
  unsigned bin = by_bins ? 0 : blockIdx.x % shape.bins;
  const table_rows rows{to.word(shape.window, 0), to.counts, to.groups};
  typename run_of_keys<T>::table_of_block table(shape.in_bin, shape.copies_log2, is_first && to.counts != nullptr);
  bool minus_zeros = false, misplaced = false;
  for (std::uint64_t begin = count * part / parts, end; begin < last; begin = end) {
    end = ::min(last, begin + (std::uint64_t{1} << most_elements_log2));
    if (by_bins) {
      unsigned above = shape.bins;
      while (above - bin > 1) {
        const unsigned middle = (bin + above) / 2;
        (shape.bin_begins[middle] <= begin ? bin : above) = middle;
      }
      end = ::min(end, shape.bin_begins[bin + 1]);
    }
    const std::uint32_t first = bin * shape.in_bin, groups = ::min(shape.in_bin, to.groups - first);
    run_of_keys<T> run;
    for (std::uint64_t i0 = begin / 4 * 4 + threadIdx.x * 4; i0 < end; i0 += stride * at_once) {
      four_terms<T, Key> loaded[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::uint64_t i = i0 + k * stride;
        if (i >= end) continue;
        loaded[k].load(i, from);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const std::uint64_t i = i0 + k * stride;
        if (i >= end) continue;
        std::uint32_t key[4], group[4];
        T x[4];
        loaded[k].keys.find_groups(from, key);
        loaded[k].read(from, x);
        sum value[4];
        // Bits of elements that are 0 or outside of the window, then of those that are in no group.
        unsigned odd = 0;
        const auto skipped = static_cast<unsigned>(i < begin ? begin - i : 0);
        const unsigned mine = static_cast<unsigned>(::min(end - i, std::uint64_t{4})) - skipped;
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
          const bool is_mine = j - skipped < mine;
          const std::uint32_t place_in_bin = key[j] - first;
          group[j] = is_mine && place_in_bin < groups ? place_in_bin : no_group;
          const T one = x[j];
          const unsigned place = biased_exponent(one) - lowest;
          const bool fits = place < binades;
          value[j] = in_units(one, place, to.spare_bits, fits && group[j] != no_group);
          if (group[j] != no_group && !fits) odd |= 1u << j;
          if (by_bins) misplaced = misplaced || (is_mine && group[j] == no_group);
          if (!by_bins && bin == 0 && is_mine && key[j] == no_group) odd |= 16u << j;
        }
        if (odd != 0) {
          minus_zeros |= spill_odd(to, odd, first, group, x, is_first);
          if (is_first) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
              if ((odd >> j & 16) != 0) note_outside(from.drops_others, i + j, from.status);
            }
          }
        }
        if (group[0] == group[1] && group[1] == group[2] && group[2] == group[3]) {
          run.add(table, group[0], value);
        } else {
          table.add(group, value, 1);
        }
      }
    }
    run.end(table);
    table.flush(rows, first, groups);
  }
  if (__any_sync(0xffffffffu, misplaced) && threadIdx.x % 32 == 0) atomicOr(&to.notes->scattered, 1u);
  if (__any_sync(0xffffffffu, minus_zeros) && threadIdx.x % 32 == 0) atomicOr(&to.notes->needs_marks, 1u);
}

}  // namespace fanin::cuda
