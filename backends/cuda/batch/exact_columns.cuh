// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows along another axis than the last one, where the elements of neighbouring rows fill whole
// vectors: their additions have no order to keep. A thread folds one slot of as many rows as a vector has elements.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned exact_column_threads = 512;
/// Blocks that share a multiprocessor, for states of so many bytes in a thread.
constexpr int exact_column_blocks(std::size_t bytes) { return bytes > 128 ? 1 : 2; }
}  // namespace tuning

/// `width` threads of the block are for vectors of neighbouring rows, and so for each slot.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::exact_column_threads,
                                  tuning::exact_column_blocks(vector<typename A::element>::size *
                                                              sizeof(typename A::state)))
    exact_columns_kernel(const __grid_constant__ batch_elements all, unsigned width,
                         const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  // A thread adds as many elements of a row at once as a vector has, or at least 4.
  constexpr unsigned size = vector<T>::size, run = size < 4 ? 4 : size;
  overlap_with_next_launch();
  const unsigned column = threadIdx.x % width, slot = threadIdx.x / width, slots = blockDim.x / width;
  const std::uint64_t vectors = all.results / size, tiles = (vectors + width - 1) / width;
  const std::int64_t stride = all.axes[all.kept].stride[0];
  for (std::uint64_t turn = blockIdx.x; turn < tiles * all.chunks; turn += gridDim.x) {
    const std::uint64_t chunk = turn / tiles, first = ((turn - chunk * tiles) * width + column) * size;
    const std::uint64_t begin = chunk * all.chunk, end = ::min(begin + all.chunk, all.length);
    const bool exists = first < all.results;
    axis_offsets at;
    if (exists) at.add_all(all.axes, all.kept, all.first + first);
    const T* const x = static_cast<const T*>(all.x) + at.x;
    state s[size];
#pragma unroll
    for (state& one : s) one = A::identity();
#pragma unroll 1
    for (std::uint64_t i = begin + slot * run; exists && i < end; i += slots * run) {
      vector<T> v[run];
#pragma unroll
      for (unsigned k = 0; k < run; ++k) {
        v[k] = negative_zeros<T>();
        if (i + k < end)
          v[k] = load(reinterpret_cast<const vector<T>*>(x + static_cast<std::int64_t>(i + k) * stride));
      }
#pragma unroll
      for (unsigned c = 0; c < size; ++c) {
        T of_row[run];
#pragma unroll
        for (unsigned k = 0; k < run; ++k) of_row[k] = v[k].at[c];
        A::add_vector(s[c], of_row);
      }
    }
    alignas(16) __shared__ std::byte memory[tuning::exact_column_threads / 2 * sizeof(state) * size];
    state* const others = reinterpret_cast<state*>(memory);
    for (unsigned distance = slots / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (unsigned c = 0; c < size; ++c) {
        if (slot >= distance && slot < 2 * distance) others[((slot - distance) * size + c) * width + column] = s[c];
      }
      __syncthreads();
#pragma unroll
      for (unsigned c = 0; c < size; ++c) {
        if (slot < distance) A::merge(s[c], others[(slot * size + c) * width + column]);
      }
      __syncthreads();
    }
    if (slot > 0 || !exists) continue;
#pragma unroll 1
    for (unsigned c = 0; c < size; ++c) {
      write({all.first + first + c, begin, end, 0, 0, 0, (first + c) * all.chunks + chunk, all.chunks}, 0, s[0]);
#pragma unroll
      for (unsigned next = 0; next + 1 < size; ++next) s[next] = s[next + 1];
    }
  }
}

}  // namespace fanin::cuda
