// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows that keys scatter. The numbers of the rows are sorted by key, so that the rows of a group are a
// list of numbers, and rows are read where they are. A thread sums a vector of neighbouring columns of a list, in two
// floats or doubles. Where these do not hold a sum, the exact accumulator adds its elements again.
//
// The sorted numbers are cut into tiles. A long list, of more numbers than a tile has, begins a part at each boundary
// of a tile. The first part also has the numbers before its boundary. A thread sums a part, and a second kernel
// merges the sums of the parts of each long list.
#pragma once

#include <bit>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/group_numbers.hpp"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/exact/double_sum.cuh"
#include "backends/cuda/numbers.hpp"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned scattered_threads = 256, scattered_run = 4;  ///< rows that a thread loads at once
inline constexpr int scattered_blocks = 3;                             ///< on a multiprocessor
inline constexpr std::uint32_t scattered_tile = 128;                   ///< numbers of rows
inline constexpr unsigned merged_columns = 32;                         ///< of a block
}  // namespace tuning

/// What the kernels read and write. Rows of the base, of x and of the results have `columns` elements.
struct scattered_lists {
  const void* x;
  const void* base;  ///< may be null
  void* out;         ///< the base, or memory apart from it
  // The next three are key_sort's: the numbers of the rows in the order of keys, these keys, and where groups begin.
  const std::uint32_t* numbers;
  group_numbers keys;
  const std::uint32_t* offsets;
  std::uint64_t count, groups, columns;
  bool has_vectors;  ///< rows are whole vectors
  element_rule rule;
  void* parts;  ///< sums: `columns` of them for each tile
};

FANIN_HOST_DEVICE constexpr std::uint64_t scattered_tiles(std::uint64_t count) {
  return (count + tuning::scattered_tile - 1) / tuning::scattered_tile;
}

/// The sums of words. Two floats hold most sums of 16 bits, and take a third of the instructions of two doubles.
template <class Word>
struct scattered_sum : word_numbers<Word> {
  using state = two_part_sum<std::conditional_t<sizeof(Word) == 2, float, double>>;
  using exact = accumulator::exact_sum<typename word_numbers<Word>::number>;
  __device__ static state identity() { return {-0.0f}; }
  __device__ static void merge(state& s, const state& other) {
    s.add(other.sum);
    s.add(other.error);
  }
};

/// The entries begin, ..., end - 1 of the sorted numbers, which are of one group. In front of them there is the
/// group's row of the base, if there is a base and the list is no part.
struct row_list {
  std::uint32_t group, begin, end;
  bool has_base;
  /// The rows of the list.
  __device__ unsigned count() const { return end - begin + (has_base ? 1 : 0); }
  __device__ bool is_long() const { return end - begin > tuning::scattered_tile; }
  /// The number of the first tile that has a part of this whole list, and the number behind the last one.
  __device__ std::uint64_t first_part() const { return scattered_tiles(begin); }
  __device__ std::uint64_t last_part() const { return scattered_tiles(end); }
};
__device__ inline row_list list_of_group(const scattered_lists& all, std::uint64_t group) {
  return {static_cast<std::uint32_t>(group), all.offsets[group], all.offsets[group + 1], all.base != nullptr};
}
/// The list that crosses the lower boundary of a tile, or begins there; an empty list if the key there is of no
/// group.
__device__ inline row_list list_at_tile(const scattered_lists& all, std::uint64_t tile) {
  const std::uint32_t group = all.keys(tile * tuning::scattered_tile);
  return group < all.groups ? list_of_group(all, group) : row_list{};
}

/// The elements of a vector of a row that exist, and zeros.
template <class T>
__device__ vector<T> load_columns(const scattered_lists& all, const T* row, std::uint64_t first) {
  if (all.has_vectors) return load(reinterpret_cast<const vector<T>*>(row + first));
  vector<T> v{};
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

/// The exact sum of a column of every step-th element of a list.
template <class A>
__device__ typename A::exact::state exact_sum_of(const scattered_lists& all, const row_list& list,
                                                 std::uint64_t column, unsigned first, unsigned step) {
  using T = typename A::element;
  typename A::exact::state sum;
  if (list.has_base && first == 0) {
    sum.add(A::read(static_cast<const T*>(all.base)[list.group * all.columns + column], all.rule));
  }
#pragma unroll 4
  for (std::uint64_t i = list.begin + first; i < list.end; i += step) {
    sum.add(A::read(static_cast<const T*>(all.x)[all.numbers[i] * all.columns + column], all.rule));
  }
  return sum;
}
/// The word of an exact sum.
template <class A>
__device__ typename A::element word_of_exact(const typename A::exact::state& sum, const element_rule& rule) {
  using T = typename A::element;
  T word;
  with_format<T>(rule, [&]<class R>(R) { word = static_cast<T>(detail::to_bits(sum.template round<R>())); });
  return word;
}
template <class A>
__device__ __noinline__ typename A::element summed_again(const scattered_lists& all, row_list list,
                                                         std::uint64_t column) {
  return word_of_exact<A>(exact_sum_of<A>(all, list, column, 0, 1), all.rule);
}
/// The words of sums that are exact.
template <class A, unsigned Size>
__device__ void words_of_sums(const typename A::state (&s)[Size], const element_rule& rule,
                              typename A::element (&words)[Size]) {
  using T = typename A::element;
  with_format<T>(rule, [&]<class R>(R) {
#pragma unroll
    for (unsigned c = 0; c < Size; ++c) words[c] = static_cast<T>(detail::to_bits(rounded_to<R>(s[c])));
  });
}

/// List i of the lists that add_rows_kernel() sums: of tile i, the part of a long list that begins at its lower
/// boundary, and behind all tiles, the list of a group. `exists` is whether there is such a part, or whether that
/// list is short.
struct next_list : row_list {
  bool exists;
  std::uint32_t number[tuning::scattered_run];  ///< of the rows that come next; undefined for the base

  __device__ next_list(const scattered_lists& all, std::uint64_t i, std::uint64_t tiles) : row_list{}, exists(false) {
    if (i >= tiles + all.groups) return;
    static_cast<row_list&>(*this) = i < tiles ? list_at_tile(all, i) : list_of_group(all, i - tiles);
    exists = is_long() == (i < tiles);
    if (i >= tiles || !exists) return;
    const std::uint64_t boundary = i * tuning::scattered_tile;
    if (boundary - begin >= tuning::scattered_tile) begin = static_cast<std::uint32_t>(boundary);
    if (end > boundary + tuning::scattered_tile) end = static_cast<std::uint32_t>(boundary + tuning::scattered_tile);
    has_base = false;
  }
  /// Reads the numbers of the rows from row `first` of the list on.
  __device__ void read_numbers(const scattered_lists& all, unsigned first) {
#pragma unroll
    for (unsigned k = 0; k < tuning::scattered_run; ++k) {
      const unsigned place = first + k - (has_base ? 1 : 0);  // The base is in front of place 0.
      if (place < end - begin) number[k] = all.numbers[begin + place];
    }
  }
};

/// Sums the columns first, ... of a list whose first numbers were read.
template <class A, unsigned Size>
__device__ void sum_list(const scattered_lists& all, next_list& list, std::uint64_t first,
                         typename A::state (&s)[Size]) {
  using T = typename A::element;
  constexpr unsigned run = tuning::scattered_run;
  const unsigned count = list.count();
#pragma unroll
  for (auto& one : s) one = A::identity();
#pragma unroll 1
  for (unsigned i = 0; i < count; i += run) {
    vector<T> v[run];
#pragma unroll
    for (unsigned k = 0; k < run; ++k) {
      if (i + k >= count) break;
      const bool is_base = k == 0 && i == 0 && list.has_base;
      const auto* const rows = static_cast<const T*>(is_base ? all.base : all.x);
      v[k] = load_columns(all, rows + (is_base ? list.group : list.number[k]) * all.columns, first);
    }
    list.read_numbers(all, i + run);
#pragma unroll
    for (unsigned k = 0; k < run; ++k) {
      if (i + k >= count) break;
      typename A::number x[Size];
      A::read_all(v[k].at, x, all.rule);
#pragma unroll
      for (unsigned c = 0; c < Size; ++c) s[c].add(x[c]);
    }
  }
}

/// Writes the columns first, ... of the result of a list, whose sums are s.
template <class A, unsigned Size>
__device__ void write_columns(const scattered_lists& all, const row_list& list, std::uint64_t first,
                              const typename A::state (&s)[Size]) {
  using T = typename A::element;
  vector<T> result;
  words_of_sums<A>(s, all.rule, result.at);
  bool are_exact = true;
#pragma unroll
  for (unsigned c = 0; c < Size; ++c) are_exact = are_exact && s[c].is_exact();
  if (!are_exact) {
#pragma unroll
    for (unsigned c = 0; c < Size; ++c) {
      if (!s[c].is_exact()) result.at[c] = summed_again<A>(all, list, first + c);
    }
  }
  store_columns(all, static_cast<T*>(all.out) + list.group * all.columns, first, result);
}

/// Sums the parts of long lists, and writes the results of the other lists. `width` threads of a block are for
/// vectors of neighbouring columns, and so for each list. Each thread looks up its next list while it sums one.
template <class A>
__global__ void __launch_bounds__(tuning::scattered_threads, tuning::scattered_blocks)
    add_rows_kernel(const __grid_constant__ scattered_lists all, unsigned width) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size;
  const unsigned at_once = blockDim.x / width, mine = threadIdx.x / width;
  const std::uint64_t slabs = ((all.columns + size - 1) / size + width - 1) / width;
  const std::uint64_t tiles = scattered_tiles(all.count), stacks = (tiles + all.groups + at_once - 1) / at_once;
  auto* const parts = static_cast<typename A::state*>(all.parts);
  const auto list_of = [&](std::uint64_t turn) {
    return next_list(all, turn < stacks * slabs ? quotient(turn, slabs) * at_once + mine : tiles + all.groups, tiles);
  };
  next_list list = list_of(blockIdx.x);
  list.read_numbers(all, 0);
  for (std::uint64_t turn = blockIdx.x; turn < stacks * slabs; turn += gridDim.x) {
    next_list next = list_of(turn + gridDim.x);
    const std::uint64_t stack = quotient(turn, slabs), i = stack * at_once + mine;
    const std::uint64_t first = ((turn - stack * slabs) * width + threadIdx.x % width) * size;
    if (list.exists && first < all.columns) {
      if (list.begin == list.end) {
        const std::uint64_t at = list.group * all.columns;
        vector<T> result{};
        if (list.has_base) result = load_columns(all, static_cast<const T*>(all.base) + at, first);
        if (all.base != all.out) store_columns(all, static_cast<T*>(all.out) + at, first, result);
      } else {
        typename A::state s[size];
        sum_list<A>(all, list, first, s);
        next.read_numbers(all, 0);
        if (i >= tiles) {
          write_columns<A>(all, list, first, s);
        } else {
#pragma unroll
          for (unsigned c = 0; c < size; ++c) {
            if (first + c < all.columns) parts[i * all.columns + first + c] = s[c];
          }
        }
        list = next;
        continue;
      }
    }
    next.read_numbers(all, 0);
    list = next;
  }
}

/// Merges the sums of the parts of a long list, whose first part is of that tile, for columns from `begin` on.
template <class A>
__device__ void merge_list(const scattered_lists& all, std::uint64_t tile, std::uint64_t begin) {
  using T = typename A::element;
  constexpr unsigned threads = tuning::scattered_threads, columns = tuning::merged_columns;
  const row_list list = list_at_tile(all, tile);
  const auto* const parts = static_cast<const typename A::state*>(all.parts);
  const std::uint64_t count = list.last_part() - tile;
  const unsigned least = threads / columns;  // threads of a column
  const unsigned column_threads = ::max(count < 32 ? std::bit_ceil(static_cast<unsigned>(count)) : 32, least);
  const unsigned column_thread = threadIdx.x % column_threads;
#pragma unroll 1
  for (unsigned next = 0; next < columns; next += threads / column_threads) {
    const std::uint64_t column = begin + next + threadIdx.x / column_threads, at = list.group * all.columns + column;
    const bool exists = column < all.columns;
    auto s = A::identity();
    if (exists && column_thread == 0 && list.has_base) s.add(A::read(static_cast<const T*>(all.base)[at], all.rule));
    for (std::uint64_t part = column_thread; exists && part < count; part += column_threads) {
      A::merge(s, parts[(tile + part) * all.columns + column]);
    }
    s = shuffle_from(merge_threads<A>(s, column_threads), threadIdx.x % 32 / column_threads * column_threads);
    T result[1];
    words_of_sums<A>({s}, all.rule, result);
    if (__any_sync(0xffffffffu, exists && !s.is_exact())) {
      typename A::exact::state sum;
      if (exists) sum = exact_sum_of<A>(all, list, column, column_thread, column_threads);
      sum = merge_threads<typename A::exact>(sum, column_threads);
      if (!s.is_exact()) result[0] = word_of_exact<A>(sum, all.rule);
    }
    if (exists && column_thread == 0) static_cast<T*>(all.out)[at] = result[0];
  }
}

/// Writes the results of long lists. A block looks for them among 32 tiles, and has some columns.
template <class A>
__global__ void __launch_bounds__(tuning::scattered_threads, 2)
    merge_parts_kernel(const __grid_constant__ scattered_lists all) {
  constexpr unsigned columns = tuning::merged_columns;
  const std::uint64_t tiles = scattered_tiles(all.count), slabs = (all.columns + columns - 1) / columns;
  for (std::uint64_t turn = blockIdx.x; turn < (tiles + 31) / 32 * slabs; turn += gridDim.x) {
    const std::uint64_t first = quotient(turn, slabs) * 32, begin = turn % slabs * columns;
    const std::uint64_t tile = first + threadIdx.x % 32;
    const row_list list = tile < tiles ? list_at_tile(all, tile) : row_list{};
    unsigned left = __ballot_sync(0xffffffffu, list.is_long() && list.first_part() == tile);
#pragma unroll 1
    for (; left != 0; left &= left - 1) {
      merge_list<A>(all, first + static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1, begin);
    }
  }
}

}  // namespace fanin::cuda
