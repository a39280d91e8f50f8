// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows that keys scatter. The numbers of the rows are sorted by key, so that the rows of a group are a
// list of numbers, and rows are read where they are. A thread folds a vector of neighbouring columns of a list, in
// few words. Sums that do not fit are folded again at once, by the exact accumulator.
//
// The sorted numbers are cut into tiles. A long list, of more numbers than a tile has, begins a part at each boundary
// of a tile. The first part also has the numbers before its boundary. A thread folds a part, and a second kernel
// merges the exact states of the parts of each long list.
#pragma once

#include <bit>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/numbers.hpp"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned scattered_threads = 256, scattered_run = 4;  ///< rows that a thread adds at once
inline constexpr int scattered_blocks = 3;                             ///< on a multiprocessor
inline constexpr std::uint32_t scattered_tile = 128;                   ///< numbers of rows
}  // namespace tuning

/// What the kernels read and write. Rows of the base, of x and of the results have `columns` elements.
struct scattered_lists {
  const void* x;
  const void* base;                               ///< may be null
  void* out;                                      ///< the base, or memory apart from it
  const std::uint32_t *numbers, *keys, *offsets;  ///< of rows in the order of keys (key_sort)
  std::uint64_t count, groups, columns;
  bool has_vectors;  ///< rows are whole vectors
  element_rule rule;
  void* parts;  ///< exact states: `columns` of them for each tile
};

FANIN_HOST_DEVICE constexpr std::uint64_t scattered_tiles(std::uint64_t count) {
  return (count + tuning::scattered_tile - 1) / tuning::scattered_tile;
}

/// The entries begin, ..., end - 1 of the sorted numbers, which are of one group. In front of them there is the
/// group's row of the base, if there is a base and the list is no part.
struct row_list {
  std::uint64_t group, begin, end;
  bool has_base;
  __device__ bool is_long() const { return end - begin > tuning::scattered_tile; }
  /// The number of the first tile that has a part of this whole list, and the number behind the last one.
  __device__ std::uint64_t first_part() const { return scattered_tiles(begin); }
  __device__ std::uint64_t last_part() const { return scattered_tiles(end); }
};
__device__ inline row_list list_of_group(const scattered_lists& all, std::uint64_t group) {
  return {group, all.offsets[group], all.offsets[group + 1], all.base != nullptr};
}
/// The list that crosses the lower boundary of a tile, or begins there; an empty list if the key there is of no
/// group.
__device__ inline row_list list_at_tile(const scattered_lists& all, std::uint64_t tile) {
  const std::uint32_t group = all.keys[tile * tuning::scattered_tile];
  return group < all.groups ? list_of_group(all, group) : row_list{};
}

/// The elements of a vector of a row that exist, and others that may be added without effect.
template <class T>
__device__ vector<T> load_columns(const scattered_lists& all, const T* row, std::uint64_t first) {
  if (all.has_vectors) return load(reinterpret_cast<const vector<T>*>(row + first));
  vector<T> v = negative_zeros<T>();
#pragma unroll
  for (unsigned c = 0; c < v.size; ++c) {
    if (first + c < all.columns) v.at[c] = row[first + c];
  }
  return v;
}
template <class T>
__device__ void store_columns(const scattered_lists& all, T* row, std::uint64_t first, const vector<T>& v) {
  if (all.has_vectors) {
    *reinterpret_cast<vector<T>*>(row + first) = v;
    return;
  }
#pragma unroll
  for (unsigned c = 0; c < v.size; ++c) {
    if (first + c < all.columns) row[first + c] = v.at[c];
  }
}

/// Makes `sum` the exact sum of a column of the list, whose state is `s`.
template <class A>
__device__ __noinline__ void sum_exactly(const scattered_lists& all, const row_list& list, std::uint64_t column,
                                         const typename A::state& s, exact_accumulator<typename A::number>& sum) {
  using T = typename A::element;
  sum = {};
  if (s.fits()) {
    if (s.is_negative_zero()) {
      sum.add(-typename A::number{});
    } else {
      add_words(s, sum);
    }
    return;
  }
  if (list.has_base) sum.add(read<A>(all, static_cast<const T*>(all.base)[list.group * all.columns + column]));
#pragma unroll 4
  for (std::uint64_t i = list.begin; i < list.end; ++i) {
    sum.add(read<A>(all, static_cast<const T*>(all.x)[all.numbers[i] * all.columns + column]));
  }
}

/// Folds the columns first, ... of a list.
template <class A, unsigned Size>
__device__ void fold_list(const scattered_lists& all, const row_list& list, std::uint64_t first,
                          typename A::state (&s)[Size]) {
  using T = typename A::element;
  constexpr unsigned run = tuning::scattered_run;
  std::uint32_t number[run];
  const auto read_numbers = [&](std::int64_t i) {
#pragma unroll
    for (unsigned k = 0; k < run; ++k, ++i) {
      const bool has_number = i >= static_cast<std::int64_t>(list.begin) && i < static_cast<std::int64_t>(list.end);
      number[k] = has_number ? all.numbers[i] : 0;
    }
  };
  const auto begin = static_cast<std::int64_t>(list.begin), end = static_cast<std::int64_t>(list.end);
  const T* const of_base = static_cast<const T*>(all.base) + list.group * all.columns;
#pragma unroll
  for (auto& one : s) one = A::identity();
  std::int64_t i = begin - (list.has_base ? 1 : 0);
  read_numbers(i);
#pragma unroll 1
  for (; i < end; i += run) {
    vector<T> v[run];
#pragma unroll
    for (unsigned k = 0; k < run; ++k) {
      const T* const row = i + k < begin ? of_base : static_cast<const T*>(all.x) + number[k] * all.columns;
      v[k] = i + k < end ? load_columns(all, row, first) : negative_zeros<T>();
    }
    read_numbers(i + run);
#pragma unroll
    for (unsigned c = 0; c < Size; ++c) {
      T of_column[run];
#pragma unroll
      for (unsigned k = 0; k < run; ++k) of_column[k] = v[k].at[c];
      A::add_vector(s[c], read_all<A>(all, of_column).at);
    }
  }
}

/// Writes the columns first, ... of the result of a list, whose states are s.
template <class A, unsigned Size>
__device__ void write_columns(const scattered_lists& all, const row_list& list, std::uint64_t first,
                              typename A::state (&s)[Size]) {
  using T = typename A::element;
  vector<T> result;
  with_format<T>(all.rule, [&]<class R>(R) {
#pragma unroll 1
    for (unsigned c = 0; c < Size; ++c) {
      R value;
      if (s[0].fits()) {
        value = A::template finish<R>(s[0], list.end - list.begin + 1, false);
      } else if (first + c < all.columns) {
        exact_accumulator<typename A::number> sum;
        sum_exactly<A>(all, list, first + c, s[0], sum);
        value = sum.template round<R>();
      }
#pragma unroll
      for (unsigned next = 0; next + 1 < Size; ++next) s[next] = s[next + 1], result.at[next] = result.at[next + 1];
      result.at[Size - 1] = static_cast<T>(detail::to_bits(value));
    }
  });
  store_columns(all, static_cast<T*>(all.out) + list.group * all.columns, first, result);
}

/// Folds the parts of long lists, and writes the results of the other lists. `width` threads of a block are for
/// vectors of neighbouring columns, and so for each list.
template <class A>
__global__ void __launch_bounds__(tuning::scattered_threads, tuning::scattered_blocks)
    add_rows_kernel(const __grid_constant__ scattered_lists all, unsigned width) {
  using T = typename A::element;
  using exact = exact_accumulator<typename A::number>;
  constexpr unsigned size = vector<T>::size, tile = tuning::scattered_tile;
  const unsigned at_once = blockDim.x / width, mine = threadIdx.x / width;
  const std::uint64_t slabs = ((all.columns + size - 1) / size + width - 1) / width;
  const std::uint64_t tiles = scattered_tiles(all.count), lists = tiles + all.groups;
  for (std::uint64_t turn = blockIdx.x; turn < (lists + at_once - 1) / at_once * slabs; turn += gridDim.x) {
    const std::uint64_t stack = quotient(turn, slabs), i = stack * at_once + mine;
    const std::uint64_t first = ((turn - stack * slabs) * width + threadIdx.x % width) * size;
    if (i >= lists || first >= all.columns) continue;
    row_list list = i < tiles ? list_at_tile(all, i) : list_of_group(all, i - tiles);
    if (list.is_long() != (i < tiles)) continue;
    if (list.begin == list.end) {
      const std::uint64_t at = list.group * all.columns;
      if (all.base == all.out) continue;
      vector<T> v{};
      if (list.has_base) v = load_columns(all, static_cast<const T*>(all.base) + at, first);
      store_columns(all, static_cast<T*>(all.out) + at, first, v);
      continue;
    }
    if (i < tiles) {
      const std::uint64_t boundary = i * tile;
      if (list.begin + tile <= boundary) list.begin = boundary;
      list.end = ::min(list.end, boundary + tile);
      list.has_base = false;
    }
    typename A::state s[size];
    fold_list<A>(all, list, first, s);
    if (i >= tiles) {
      write_columns<A>(all, list, first, s);
      continue;
    }
#pragma unroll 1
    for (unsigned c = 0; c < size && first + c < all.columns; ++c) {
      sum_exactly<A>(all, list, first + c, s[0], static_cast<exact*>(all.parts)[i * all.columns + first + c]);
#pragma unroll
      for (unsigned next = 0; next + 1 < size; ++next) s[next] = s[next + 1];
    }
  }
}

/// Writes the results of long lists. A block has the tile of a list's first part, and as many columns as threads.
template <class A>
__global__ void __launch_bounds__(tuning::scattered_threads)
    merge_parts_kernel(const __grid_constant__ scattered_lists all) {
  using T = typename A::element;
  using exact = accumulator::exact_sum<typename A::number>;
  constexpr unsigned threads = tuning::scattered_threads;
  const std::uint64_t slabs = (all.columns + threads - 1) / threads, turns = scattered_tiles(all.count) * slabs;
  for (std::uint64_t turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    const std::uint64_t tile = quotient(turn, slabs), begin = (turn - tile * slabs) * threads;
    const row_list list = list_at_tile(all, tile);
    if (!list.is_long() || list.first_part() != tile) continue;
    const std::uint64_t parts = list.last_part() - tile;
    const unsigned lanes = parts < 32 ? std::bit_ceil(static_cast<unsigned>(parts)) : 32, lane = threadIdx.x % lanes;
#pragma unroll 1
    for (unsigned next = 0; next < threads; next += threads / lanes) {
      const std::uint64_t column = begin + next + threadIdx.x / lanes, at = list.group * all.columns + column;
      const bool exists = column < all.columns;
      typename exact::state sum;
      if (exists && lane == 0 && list.has_base) sum.add(read<A>(all, static_cast<const T*>(all.base)[at]));
      for (std::uint64_t part = lane; exists && part < parts; part += lanes) {
        sum.merge(static_cast<const typename exact::state*>(all.parts)[(tile + part) * all.columns + column]);
      }
      sum = merge_lanes<exact>(sum, lanes);
      if (!exists || lane > 0) continue;
      with_format<T>(all.rule, [&]<class R>(R) {
        static_cast<T*>(all.out)[at] = static_cast<T>(detail::to_bits(sum.template round<R>()));
      });
    }
  }
}

}  // namespace fanin::cuda
