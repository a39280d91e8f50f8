// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows of more than 32 vectors, along the last axis: their additions have no order to keep.
#pragma once

#include "backends/cuda/batch/whole_rows.cuh"

namespace fanin::cuda {

namespace tuning {
/// How a warp folds rows: how many at once, whether it forms the sums of all vectors that it has loaded before it
/// adds the first one to a state, and how many blocks share a multiprocessor at least.
struct exact_rows_shape {
  unsigned rows;
  bool sums_first;
  int blocks;
};
inline constexpr std::uint64_t vectors_of_short_row = 4 * 32;
template <class T, bool Short>
inline constexpr exact_rows_shape exact_rows_shape_of = Short            ? exact_rows_shape{4, false, 3}
                                                        : sizeof(T) == 4 ? exact_rows_shape{2, false, 4}
                                                                         : exact_rows_shape{1, true, 0};
}  // namespace tuning

/// The state of two vectors' elements.
template <class A, class T = typename A::element>
__device__ typename A::state sum_of_two(const vector<T>& a, const vector<T>& b) {
  T both[2 * vector<T>::size];
#pragma unroll
  for (int i = 0; i < 2 * a.size; ++i) both[i] = i < a.size ? a.at[i] : b.at[i - a.size];
  return A::of_vector(both);
}

/// A warp folds chunks of several rows at once, and merges their states together. `Short`: of at most
/// vectors_of_short_row vectors.
template <class A, bool Short, class Write>
__global__ void __launch_bounds__(tuning::row_threads, tuning::exact_rows_shape_of<typename A::element, Short>.blocks)
    exact_rows_kernel(const __grid_constant__ batch_elements all, const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr tuning::exact_rows_shape shape = tuning::exact_rows_shape_of<T, Short>;
  constexpr unsigned size = vector<T>::size, rows = shape.rows, loads = tuning::row_loads / rows;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32;
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
    for (unsigned j = lane; j < most; j += 32 * loads) {
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
          for (unsigned n = 0; n < loads; n += 2) sums[k][n / 2] = sum_of_two<A>(v[k][n], v[k][n + 1]);
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
            if (n == 0 || j + 32 * n < vectors[k]) A::merge(s[k], sum_of_two<A>(v[k][n], v[k][n + 1]));
          }
        }
      }
    }
    const results_of_lane mine = merge_results<A>(s, 32, lane);
    const std::uint64_t i = first + mine.first;
    if (!mine.exist || i >= items) continue;
    const std::uint64_t row = all.chunks == 1 ? i : i / all.chunks, begin = (i - row * all.chunks) * all.chunk;
    write({all.first + row, begin, ::min(begin + all.chunk, all.length), 0, 0, 0, i, all.chunks}, 0, s[0]);
  }
}

}  // namespace fanin::cuda
