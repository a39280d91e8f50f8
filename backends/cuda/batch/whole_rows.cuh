// SPDX-License-Identifier: Apache-2.0
// Rows along the last axis that consist of whole vectors: the fast case of lines_kernel.cuh, with the same order.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/batch/batch_writer.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr int row_threads = 256;
inline constexpr int short_rows_at_once = 4;  ///< rows of a lane whose vectors are in flight together
inline constexpr int row_loads = 8;           ///< vectors of a long row that a lane loads before it adds the first
}  // namespace tuning

/// Adds a vector's elements, of which the first has the position `position`.
template <class A, class T = typename A::element>
__device__ void add_vector(typename A::state& s, const vector<T>& v, std::uint64_t position) {
  if constexpr (adds_runs<A>) {
    A::add_run(s, v.at, position);
  } else {
#pragma unroll
    for (int i = 0; i < v.size; ++i) add_at<A>(s, position + i, v.at[i]);
  }
}

/// After add_vector(), the state with the place of its element, found among x[0], x[stride], ...
template <class A, class T = typename A::element>
__device__ void locate(typename A::state& s, const T* x, std::int64_t stride) {
  if constexpr (adds_runs<A>) {
    while (!A::is_at(s, x[static_cast<std::int64_t>(s.index) * stride])) ++s.index;
  }
}

/// Rows of at most `lanes` vectors, where `lanes` is a power of two up to 32: neighbouring lanes fold a row.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::row_threads)
    short_rows_kernel(const __grid_constant__ batch_elements all, unsigned lanes,
                      const __grid_constant__ Write write) {
  using T = typename A::element;
  constexpr int at_once = tuning::short_rows_at_once;
  overlap_with_next_launch();
  const unsigned lane = threadIdx.x % 32, lane_of_row = lane % lanes, rows = 32 / lanes;
  const bool has_vector = lane_of_row * vector<T>::size < all.length;
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (tuning::row_threads / 32);
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (tuning::row_threads / 32) + threadIdx.x / 32;
  const std::int64_t stride = all.kept == 0 ? 0 : all.axes[0].stride[0];
  const T* const x = static_cast<const T*>(all.x) + lane_of_row * vector<T>::size;
  for (std::uint64_t first = warp * rows * at_once; first < all.results; first += warps * rows * at_once) {
    vector<T> v[at_once];
    typename A::state s[at_once];
    const std::uint64_t row = first + lane / lanes;
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint64_t i = row + k * rows;
      if (has_vector && i < all.results) {
        v[k] = load(reinterpret_cast<const vector<T>*>(x + static_cast<std::int64_t>(all.first + i) * stride));
      }
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      s[k] = A::identity();
      if (has_vector && row + k * rows < all.results) add_vector<A>(s[k], v[k], lane_of_row * vector<T>::size);
    }
#pragma unroll 1
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (auto& one : s) A::merge(one, shuffle_down(one, distance));
    }
#pragma unroll 1
    for (unsigned k = 0; k < at_once; ++k) {
      const std::uint64_t i = row + k * rows;
      if (lane_of_row == 0 && i < all.results) {
        locate<A>(s[0], x + static_cast<std::int64_t>(all.first + i) * stride, 1);
        write({all.first + i, 0, all.length, 0, 0, 0, i, 1}, 0, s[0]);
      }
#pragma unroll
      for (int next = 0; next + 1 < at_once; ++next) s[next] = s[next + 1];
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
        [&](const vector<T>& v, std::uint64_t j) { add_vector<A>(s, v, begin + j * size); });
#pragma unroll 1
    for (unsigned distance = 16; distance > 0; distance /= 2) A::merge(s, shuffle_down(s, distance));
    if (lane > 0) continue;
    locate<A>(s, reinterpret_cast<const T*>(x - begin / size), 1);
    write({all.first + row, begin, end, 0, 0, 0, i, all.chunks}, 0, s);
  }
}

}  // namespace fanin::cuda
