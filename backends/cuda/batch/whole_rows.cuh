// SPDX-License-Identifier: Apache-2.0
// Rows along the last axis that consist of whole vectors: the fast case of lines_kernel.cuh, with the same order.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int row_threads = 256, row_blocks = 4;  ///< threads in a block, blocks on a multiprocessor
inline constexpr unsigned row_loads = 8;                 ///< vectors that a lane loads before it adds the first
}  // namespace tuning

/// The states of rows, in the first of the `group_size` lanes that hold the vectors v[r] of row r, where has(k) says
/// whether this lane has the k-th of them.
template <class A, unsigned Rows, unsigned Vectors, class T, class Has>
__device__ void fold_rows(const batch_elements& all, const vector<T> (&v)[Rows][Vectors], const Has& has,
                          unsigned group_size, unsigned lane_of_row, typename A::state (&s)[Rows]) {
  constexpr unsigned size = vector<T>::size;
#pragma unroll
  for (unsigned r = 0; r < Rows; ++r) {
    s[r] = A::identity();
#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k) {
      if (has(k)) add_vector<A>(all, s[r], v[r][k], (lane_of_row + k * 32) * size);
    }
  }
#pragma unroll 1
  for (unsigned distance = group_size / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (auto& one : s) A::merge(one, shuffle_down(one, distance));
  }
}
/// Folds rows whose states have the place of an element: finds the value first and its place then, for which no lane
/// needs more than 32 bits.
template <adds_runs A, unsigned Rows, unsigned Vectors, class T, class Has>
__device__ void fold_rows_with_places(const batch_elements& all, vector<T> (&v)[Rows][Vectors], const Has& has,
                                      unsigned group_size, unsigned lane_of_row, typename A::state (&s)[Rows]) {
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
        if (has(k) && A::is_at({best[r], 0}, v[r][k].at[i])) place[r] = (lane_of_row + k * 32) * size + i;
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

/// Rows of at most Vectors vectors for each of `group_size` lanes, a power of two up to 32, and 32 if Vectors
/// is above 1. Neighbouring lanes fold a row, and a warp several rows together.
template <class A, unsigned Vectors, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::row_blocks)
    short_rows_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr unsigned rows_at_once = tuning::row_loads / Vectors;
  constexpr unsigned size = vector<T>::size;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32, lane_of_row = lane % group_size, groups = 32 / group_size;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32;
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const unsigned length = static_cast<unsigned>(all.length), at_turn = groups * rows_at_once;
  const auto has = [&](unsigned k) { return (lane_of_row + k * 32) * size < length; };
  const T* const x = static_cast<const T*>(all.x) + (has(0) ? lane_of_row * size : 0);
  for (std::uint64_t first = warp * at_turn; first < all.results; first += warps * at_turn) {
    vector<T> v[rows_at_once][Vectors];
    const T* const row = x + static_cast<std::int64_t>(all.first + first) * stride;
    const unsigned rows = static_cast<unsigned>(::min(all.results - first, std::uint64_t{at_turn}));
#pragma unroll
    for (unsigned r = 0; r < rows_at_once; ++r) {
      const unsigned mine = ::min(r * groups + lane / group_size, rows - 1);  // A branch would cost more than a load.
#pragma unroll
      for (unsigned k = 0; k < Vectors; ++k) {
        v[r][k] = load(reinterpret_cast<const vector<T>*>(row + mine * stride + (has(k) ? k * 32 * size : 0)));
      }
    }
    state s[rows_at_once];
    if constexpr (adds_runs<A>) {
      fold_rows_with_places<A>(all, v, has, group_size, lane_of_row, s);
    } else {
      fold_rows<A>(all, v, has, group_size, lane_of_row, s);
    }
#pragma unroll 1
    for (unsigned written = 0; written < rows; written += 32) {
      const unsigned mine = written + lane;
      state of_mine = s[0];
#pragma unroll
      for (unsigned r = 0; r < rows_at_once; ++r) {
        const state other = shuffle_from(s[r], lane % groups * group_size);
        if (mine / groups == r) of_mine = other;
      }
      const std::uint64_t i = first + mine;
      if (mine < rows) write({all.first + i, 0, all.length, 0, 0, 0, i, 1}, 0, of_mine);
    }
  }
}

/// A warp folds a chunk of a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads)
    long_rows_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr unsigned size = vector<T>::size;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t items = all.results * all.chunks, warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32; i < items;
       i += warps) {
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks;
    const std::uint64_t begin = (i - row * all.chunks) * all.chunk;
    const std::uint64_t end = ::min(begin + all.chunk, all.length);
    const auto* const x = reinterpret_cast<const vector<T>*>(static_cast<const T*>(all.x) +
                                                             static_cast<std::int64_t>(all.first + row) * stride) +
                          begin / size;
    typename A::state s = A::identity();
    for_each_loaded<tuning::row_loads>(
        [&](std::uint64_t j) { return load(x + j); }, lane, (end - begin) / size, 32,
        [&](const vector<T>& v, std::uint64_t j) { add_vector<A>(all, s, v, begin + j * size); });
#pragma unroll 1
    for (unsigned distance = 16; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
    if (lane > 0) continue;
    locate<A>(all, s, reinterpret_cast<const T*>(x - begin / size), 1, end);
    write({all.first + row, begin, end, 0, 0, 0, i, all.chunks}, 0, s);
  }
}

}  // namespace fanin::cuda
