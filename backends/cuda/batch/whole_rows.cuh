// SPDX-License-Identifier: Apache-2.0
// Rows along the last axis that consist of whole vectors: the fast case of lines_kernel.cuh, with the same order.
// Short rows may begin anywhere.
#pragma once

#include "backends/cuda/batch/row_loads.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int row_threads = 256, row_blocks = 4;  ///< threads in a block, blocks on a multiprocessor
inline constexpr unsigned row_loads = 8;                 ///< vectors that a thread loads before it adds the first
/// If additions take many instructions, warps for short rows have more registers, and warps for long rows have
/// less code.
template <class A>
inline constexpr int short_row_blocks = adds_all_of_vector<A> ? 3 : row_blocks;
template <class A>
inline constexpr unsigned long_row_loads = adds_all_of_vector<A> ? 4 : row_loads;
template <class A>
inline constexpr int long_row_blocks = adds_all_of_vector<A> ? row_blocks : 1;
}  // namespace tuning

/// The results whose states a thread has after merge_results(): `count` from number `first` on.
struct results_of_thread {
  unsigned first, count;
  bool exist;  ///< otherwise other threads have them
};

/// Merges the states of `group_size` neighbouring threads. `group_size` is a power of two up to 32. Each thread has
/// states of the same N results. Threads send the states of half of the results to threads that go on with these
/// results, so results end in different threads. The results that a thread has at the end are in s[0], s[1], ...
/// Their number is the same in all threads.
template <class A, unsigned N>
__device__ results_of_thread merge_results(typename A::state (&s)[N], unsigned group_size, unsigned warp_thread) {
  results_of_thread mine{0, N, true};
  unsigned distance = group_size / 2;
#pragma unroll
  for (unsigned half = N / 2; half > 0; half /= 2) {
    if (distance == 0) break;
    const bool goes_on_with_upper = (warp_thread & distance) != 0;
#pragma unroll
    for (unsigned k = 0; k < half; ++k) {
      const typename A::state sent = goes_on_with_upper ? s[k] : s[k + half];
      if (goes_on_with_upper) s[k] = s[k + half];
      A::merge(s[k], shuffle_xor(sent, distance));
    }
    if (goes_on_with_upper) mine.first += half;
    mine.count = half;
    distance /= 2;
  }
  mine.exist = distance == 0 || (warp_thread & (2 * distance - 1)) == 0;
#pragma unroll 1
  for (; distance > 0; distance /= 2) A::merge(s[0], shuffle_down(s[0], distance));
  return mine;
}

/// States of results that a warp keeps, one in each thread.
template <class A>
class results_of_warp {
 public:
  /// Takes the states of as many results as the warp has groups of `size` threads, a power of two, from the first
  /// thread of each. After `size` calls, or with `is_last`, calls write(number, state) in the threads that keep a
  /// state. All threads of the warp call it with the number of their group's result.
  template <class Write>
  __device__ void add(const typename A::state& s, std::uint64_t number, unsigned size, bool is_last,
                      const Write& write) {
    const unsigned warp_thread = threadIdx.x % 32, of_group = warp_thread % size;
    const typename A::state taken = shuffle_from(s, warp_thread - of_group);
    if (of_group == calls_) {
      kept_ = taken;
      number_ = number;
    }
    if (++calls_ < size && !is_last) return;
    if (of_group < calls_) write(number_, kept_);
    calls_ = 0;
  }

 private:
  typename A::state kept_;
  std::uint64_t number_;
  unsigned calls_ = 0;
};

/// The states of rows in a thread that holds the vectors v[r] of row r, where has(k) says whether the thread has the
/// k-th of them.
template <class A, unsigned Rows, unsigned Vectors, class Has, class T = typename A::element>
__device__ void fold_rows_in_thread(const batch_elements& all, const loaded_vector<A> (&v)[Rows][Vectors],
                                    const Has& has, unsigned row_thread, typename A::state (&s)[Rows]) {
  constexpr unsigned at_once = ends_slowly<A> && Vectors > 1 ? 2 : 1;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    s[r] = A::identity();
#pragma unroll
    for (unsigned k = 0; k < Vectors; k += at_once) {
      if constexpr (at_once == 2) {
        if (has(k + 1)) {
          add_registers<A>(all, s[r], {v[r][k], v[r][k + 1]});
          continue;
        }
      }
      if (has(k)) add_vector<A>(all, s[r], v[r][k], (row_thread + k * 32) * vector<T>::size);
    }
  }
}
/// A thread's state of every 32nd vector of a chunk. The first element of the chunk has the position `begin`.
template <class A, class T = typename A::element>
__device__ typename A::state fold_chunk_in_thread(const batch_elements& all, const vector<T>* x, unsigned vectors,
                                                  std::uint64_t begin) {
  constexpr unsigned loads = tuning::long_row_loads<A>;
  typename A::state s = A::identity();
  unsigned j = threadIdx.x % 32;
  if constexpr (ends_slowly<A>) {
#pragma unroll 1
    for (; j + (loads - 1) * 32 < vectors; j += loads * 32) {
      uint4 v[loads];
#pragma unroll
      for (unsigned k = 0; k < loads; ++k) v[k] = load_for<A>(x + j + k * 32);
#pragma unroll
      for (unsigned k = 0; k < loads; k += 2) add_registers<A>(all, s, {v[k], v[k + 1]});
    }
  }
  for_each_loaded<ends_slowly<A> ? 1 : loads>(
      [&](std::uint64_t i) { return load_for<A>(x + i); }, j, vectors, 32,
      [&](const loaded_vector<A>& v, std::uint64_t i) { add_vector<A>(all, s, v, begin + i * vector<T>::size); });
  return s;
}
/// The states of rows, in the first of the `group_size` threads that hold their vectors.
template <class A, unsigned Rows, unsigned Vectors, class Has>
__device__ void fold_rows(const batch_elements& all, const loaded_vector<A> (&v)[Rows][Vectors], const Has& has,
                          unsigned group_size, unsigned row_thread, typename A::state (&s)[Rows]) {
  fold_rows_in_thread<A>(all, v, has, row_thread, s);
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (auto& one : s) A::merge(one, shuffle_down(one, distance));
  }
}
/// Folds rows whose states have the place of an element: finds the value first and its place then, for which no
/// thread needs more than 32 bits.
template <adds_runs A, unsigned Rows, unsigned Vectors, class Has, class T = typename A::element>
requires(!packs_places<A>) __device__
    void fold_rows_with_places(const batch_elements& all, vector<T> (&v)[Rows][Vectors], const Has& has,
                               unsigned group_size, unsigned row_thread, typename A::state (&s)[Rows]) {
  constexpr unsigned size = vector<T>::size, none = ~0u;
  using value = typename A::value;
  typename value::state best[Rows];
  unsigned place[Rows];
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    best[r] = value::identity();
    place[r] = none;
#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k) {
      A::read_all(v[r][k].at, v[r][k].at, all.rule);
      if (has(k)) value::merge(best[r], extreme_word<true>(v[r][k].at));
    }
  }
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (auto& one : best) value::merge(one, shuffle_from(one, threadIdx.x % 32 ^ distance));
  }
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
#pragma unroll
    for (unsigned k = Vectors; k-- > 0;) {
#pragma unroll
      for (unsigned i = size; i-- > 0;) {
        if (has(k) && A::is_at({best[r], 0}, v[r][k].at[i])) place[r] = (row_thread + k * 32) * size + i;
      }
    }
  }
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (unsigned& one : place) one = ::min(one, __shfl_xor_sync(0xffffffffu, one, distance));
  }
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) s[r] = {best[r], place[r] == none ? ~std::uint64_t{0} : place[r]};
}
/// Folds rows whose places are packed with the keys.
template <adds_runs A, unsigned Rows, unsigned Vectors, class Has, class T = typename A::element>
requires packs_places<A> __device__ void fold_rows_with_places(const batch_elements& all,
                                                               vector<T> (&v)[Rows][Vectors], const Has& has,
                                                               unsigned group_size, unsigned row_thread,
                                                               typename A::state (&s)[Rows]) {
  using line = form_in_lines<A>;
  static_assert(tuning::row_loads * 32 * vector<T>::size < line::places);
  typename line::state packed[Rows];
  fold_rows<line>(all, v, has, group_size, row_thread, packed);
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) s[r] = state_of_line<A>(packed[r]);
}

/// Rows of at most Vectors vectors for each of `group_size` threads, a power of two up to 32, and 32 if Vectors
/// is above 1. Neighbouring threads fold a row, and a warp several rows together, up to 32 of those that are not
/// aligned.
template <class A, unsigned Vectors, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::short_row_blocks<A>)
    short_rows_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr unsigned rows_at_once = tuning::row_loads / Vectors;
  constexpr unsigned size = vector<T>::size;
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32, bits = log2_of(group_size),
                 row_thread = warp_thread & (group_size - 1), groups = 32 >> bits;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32;
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const unsigned length = static_cast<unsigned>(all.length), at_turn = groups * rows_at_once;
  const auto has = [&](unsigned k) { return (row_thread + k * 32) * size < length; };
  const auto at = [&](unsigned k) { return has(k) ? (row_thread + k * 32) * size : 0; };
  const T* const x = static_cast<const T*>(all.x) + at(0);
  const bool are_aligned = are_aligned_rows<T>(all);
  results_of_warp<A> results;
  for (std::uint64_t first = warp * at_turn; first < all.results; first += warps * at_turn) {
    uint4 words[rows_at_once][Vectors];
    const unsigned rows = static_cast<unsigned>(::min(all.results - first, std::uint64_t{at_turn}));
    if (are_aligned) {
      const T* const row = x + static_cast<std::int64_t>(all.first + first) * stride;
#pragma unroll
      for (unsigned r = 0; r < rows_at_once; ++r) {
        const unsigned mine =
            ::min(r * groups + (warp_thread >> bits), rows - 1);  // A branch would cost more than a load.
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k) {
          words[r][k] = __ldg(reinterpret_cast<const uint4*>(row + mine * stride + (has(k) ? k * 32 * size : 0)));
        }
      }
    } else {
      const T* const mine =
          static_cast<const T*>(all.x) + offset_of_row(all, all.first + first + ::min(warp_thread, rows - 1));
      load_split_rows<T>(all, {reinterpret_cast<std::uintptr_t>(mine), rows, groups, warp_thread >> bits}, at, words);
    }
    loaded_vector<A> v[rows_at_once][Vectors];
#pragma unroll
    for (unsigned n = 0; n < tuning::row_loads; ++n)
      v[n / Vectors][n % Vectors] = loaded_words<A>(words[n / Vectors][n % Vectors]);
    state s[rows_at_once];
    if constexpr (ends_slowly<A>) {
      fold_rows_in_thread<A>(all, v, has, row_thread, s);
      results_of_thread mine;
      with_plain_sums<A>(s, warp_and,
                         [&]<class M>(auto& merged, M) { mine = merge_results<M>(merged, group_size, row_thread); });
      const bool is_last = first + warps * at_turn >= all.results;
#pragma unroll 1
      for (unsigned k = 0; k < mine.count; ++k) {
        const std::uint64_t i = first + (mine.first + k) * groups + (warp_thread >> bits);
        results.add(s[0], i, group_size > rows_at_once ? group_size / rows_at_once : 1, is_last,
                    [&](std::uint64_t number, const state& one) {
                      if (number < all.results)
                        write({all.first + number, 0, all.length, 0, 0, 0, number, 1}, 0, one);
                    });
#pragma unroll
        for (unsigned next = 0; next + 1 < rows_at_once; ++next) s[next] = s[next + 1];
      }
      continue;
    }
    if constexpr (adds_runs<A>) {
      fold_rows_with_places<A>(all, v, has, group_size, row_thread, s);
    } else {
      fold_rows<A>(all, v, has, group_size, row_thread, s);
    }
#pragma unroll 1
    for (unsigned written = 0; written < rows; written += 32) {
      const unsigned mine = written + warp_thread;
      state of_mine = s[0];
#pragma unroll
      for (unsigned r = 0; r < rows_at_once; ++r) {
        const state other = shuffle_from(s[r], warp_thread % groups * group_size);
        if (mine / groups == r) of_mine = other;
      }
      const std::uint64_t i = first + mine;
      if (mine < rows) write({all.first + i, 0, all.length, 0, 0, 0, i, 1}, 0, of_mine);
    }
  }
}

/// A warp folds a chunk of a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::long_row_blocks<A>)
    long_rows_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size;
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32;
  const std::uint64_t items = all.results * all.chunks, warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const auto place_of = [&](std::uint64_t i, std::uint64_t& row, std::uint64_t& begin, std::uint64_t& end) {
    row = all.chunks == 1 ? i : i / all.chunks;
    begin = (i - row * all.chunks) * all.chunk;
    end = ::min(begin + all.chunk, all.length);
  };
  results_of_warp<A> results;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32; i < items;
       i += warps) {
    std::uint64_t row, begin, end;
    place_of(i, row, begin, end);
    const auto* const x = reinterpret_cast<const vector<T>*>(static_cast<const T*>(all.x) +
                                                             static_cast<std::int64_t>(all.first + row) * stride) +
                          begin / size;
    typename A::state s = fold_chunk_in_thread<A>(all, x, static_cast<unsigned>((end - begin) / size), begin);
    if constexpr (ends_slowly<A>) {
      typename A::state of_chunk[] = {s};
      with_plain_sums<A>(of_chunk, warp_and,
                         [&]<class M>(auto& merged, M) { merge_results<M>(merged, 32, warp_thread); });
      results.add(of_chunk[0], i, 32, i + warps >= items, [&](std::uint64_t mine, const typename A::state& one) {
        place_of(mine, row, begin, end);
        write({all.first + row, begin, end, 0, 0, 0, mine, all.chunks}, 0, one);
      });
    } else {
#pragma unroll 1
      for (unsigned distance = 16; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
      if (warp_thread > 0) continue;
      locate<A>(all, s, reinterpret_cast<const T*>(x - begin / size), 1, end);
      write({all.first + row, begin, end, 0, 0, 0, i, all.chunks}, 0, s);
    }
  }
}

}  // namespace fanin::cuda
