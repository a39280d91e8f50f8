// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows along the last axis that consist of whole vectors: their additions have no order to keep.
#pragma once

#include "backends/cuda/batch/whole_rows.cuh"

namespace fanin::cuda {

namespace tuning {
/// The way in which a warp folds rows. It has the number of rows at once, and the least number of blocks on a
/// multiprocessor. It also says whether a warp sums all vectors that it has loaded before it adds the first of
/// them to a state.
struct exact_rows_shape {
  unsigned rows;
  bool sums_first;
  int blocks;
};
/// Rows of up to 32 vectors: how many a thread has at once, and the blocks that share a multiprocessor at least.
inline constexpr unsigned short_exact_rows = 4;
inline constexpr int short_exact_blocks = 3;
inline constexpr std::uint64_t vectors_of_short_row = 4 * 32;
template <class T, bool Short>
inline constexpr exact_rows_shape exact_rows_shape_of = Short            ? exact_rows_shape{4, false, 3}
                                                        : sizeof(T) == 4 ? exact_rows_shape{2, false, 4}
                                                                         : exact_rows_shape{1, true, 0};
}  // namespace tuning

/// Rows of at most `group_size` vectors, where `group_size` is a power of two up to 32: so many threads fold a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::short_exact_blocks)
    short_exact_rows_kernel(const __grid_constant__ batch_elements all, unsigned group_size,
                            const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr unsigned at_once = tuning::short_exact_rows;
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32, bits = log2_of(group_size),
                 row_thread = warp_thread & (group_size - 1), rows = 32 >> bits;
  const bool has_vector = row_thread * vector<T>::size < all.length;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32;
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const T* const x = static_cast<const T*>(all.x) + row_thread * vector<T>::size;
  const std::int64_t step = stride * rows;  // between the rows of a thread
  for (std::uint64_t first = warp * rows * at_once; first < all.results; first += warps * rows * at_once) {
    vector<T> v[at_once];
    typename A::state s[at_once];
    const std::uint64_t row = first + (warp_thread >> bits);
    const T* const of_row = x + static_cast<std::int64_t>(all.first + row) * stride;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      v[k] = negative_zeros<T>();
      if (has_vector && row + k * rows < all.results)
        v[k] = load(reinterpret_cast<const vector<T>*>(of_row + k * step));
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) s[k] = A::of_vector(read_all<A>(all, v[k].at).at);
    const results_of_thread mine = merge_results<A>(s, group_size, row_thread);
#pragma unroll 1
    for (unsigned k = 0; k < mine.count; ++k) {
      const std::uint64_t i = row + (mine.first + k) * rows;
      if (mine.exist && i < all.results) write({all.first + i, 0, all.length, 0, 0, 0, i, 1}, 0, s[0]);
#pragma unroll
      for (unsigned next = 0; next + 1 < at_once; ++next) s[next] = s[next + 1];
    }
  }
}

/// A warp folds chunks of several rows at once, and merges their states together. With `Short` the rows have at most
/// vectors_of_short_row vectors.
template <class A, bool Short, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::exact_rows_shape_of<typename A::element, Short>.blocks)
    exact_rows_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr tuning::exact_rows_shape shape = tuning::exact_rows_shape_of<T, Short>;
  constexpr unsigned size = vector<T>::size, rows = shape.rows, loads = tuning::row_loads / rows;
  overlap_with_next_launch();
  const unsigned warp_thread = threadIdx.x % 32;
  const std::uint64_t items = all.results * all.chunks, warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  for (std::uint64_t first = (std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32) * rows;
       first < items; first += warps * rows) {
    const vector<T>* x[rows];
    unsigned vectors[rows], most = 0;
    typename A::state s[rows];
#pragma unroll
    for (unsigned k = 0; k < rows; ++k) {
      const std::uint64_t i = first + k, row = all.chunks == 1 ? i : i / all.chunks;
      const std::uint64_t begin = (i - row * all.chunks) * all.chunk;
      x[k] = reinterpret_cast<const vector<T>*>(static_cast<const T*>(all.x) +
                                                static_cast<std::int64_t>(all.first + row) * stride +
                                                static_cast<std::int64_t>(begin));
      vectors[k] = i < items ? static_cast<unsigned>(::min(all.chunk, all.length - begin) / size) : 0;
      most = ::max(most, vectors[k]);
      s[k] = A::identity();
    }
#pragma unroll 1
    for (unsigned j = warp_thread; j < most; j += 32 * loads) {
      vector<T> v[rows][loads];
#pragma unroll
      for (unsigned k = 0; k < rows; ++k) {
#pragma unroll
        for (unsigned n = 0; n < loads; ++n) {
          v[k][n] = negative_zeros<T>();
          if (j + 32 * n < vectors[k]) v[k][n] = load(x[k] + j + 32 * n);
        }
      }
      if constexpr (shape.sums_first) {
        typename A::state sums[rows][loads / 2];
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
#pragma unroll
          for (unsigned n = 0; n < loads; n += 2) sums[k][n / 2] = sum_of_two<A>(all, v[k][n], v[k][n + 1]);
        }
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
#pragma unroll
          for (const auto& one : sums[k]) A::merge(s[k], one);
        }
      } else {
#pragma unroll
        for (unsigned k = 0; k < rows; ++k) {
#pragma unroll
          for (unsigned n = 0; n < loads; n += 2) {
            if (n == 0 || j + 32 * n < vectors[k]) A::merge(s[k], sum_of_two<A>(all, v[k][n], v[k][n + 1]));
          }
        }
      }
    }
    const results_of_thread mine = merge_results<A>(s, 32, warp_thread);
    const std::uint64_t i = first + mine.first;
    if (!mine.exist || i >= items) continue;
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks, begin = (i - row * all.chunks) * all.chunk;
    write({all.first + row, begin, ::min(begin + all.chunk, all.length), 0, 0, 0, i, all.chunks}, 0, s[0]);
  }
}

}  // namespace fanin::cuda
