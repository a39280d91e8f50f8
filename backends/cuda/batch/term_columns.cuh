// SPDX-License-Identifier: Apache-2.0
// Exact sums of squares, and both sums of a variance, of rows along another axis than the last one, if the
// elements of neighbouring rows fill whole vectors. A thread folds every few elements of several neighbouring rows
// in the same units. It copies its next elements into shared memory while it adds the elements before them.
#pragma once

#include <cuda_pipeline.h>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_products.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned term_column_threads = 128, term_column_run = 4;  ///< elements of each row, added at once
inline constexpr int term_column_blocks = 3;                               ///< on a multiprocessor
}  // namespace tuning

/// `width` threads of the block are for vectors of neighbouring rows, and so for each slot.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::term_column_threads, tuning::term_column_blocks)
    term_columns_kernel(const __grid_constant__ batch_elements all, unsigned width,
                        const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr unsigned size = vector<T>::size, run = tuning::term_column_run, threads = tuning::term_column_threads;
  using vectors_of_run = pairs_of_words<T, size * run, true>;
  using vector_of_row = pairs_of_words<T, size, true>;
  __shared__ uint4 stages[2][run][threads];
  __shared__ state others[threads / 2];
  overlap_with_next_launch();
  const unsigned column = threadIdx.x % width, slot = threadIdx.x / width, slots = blockDim.x / width;
  const std::uint64_t vectors = all.results / size, tiles = (vectors + width - 1) / width;
  const std::int64_t stride = all.axes[all.kept].stride[0];
  term_window<A, size> window;
  for (std::uint64_t turn = blockIdx.x; turn < tiles * all.chunks; turn += gridDim.x) {
    const std::uint64_t chunk = turn / tiles, first = ((turn - chunk * tiles) * width + column) * size;
    const std::uint64_t begin = chunk * all.chunk, end = ::min(begin + all.chunk, all.length);
    const bool exists = first < all.results;
    axis_offsets at;
    if (exists) at.add_all(all.axes, all.kept, all.first + first);
    const T* const x = static_cast<const T*>(all.x) + at.x + static_cast<std::int64_t>(begin) * stride;
    const unsigned length = exists ? static_cast<unsigned>(end - begin) : 0, step = slots * run;
    // Neighbouring slots have neighbouring elements of a row.
    const auto copy = [&](unsigned stage, unsigned i) {
      const T* from = x + std::int64_t{i} * stride;
#pragma unroll
      for (unsigned k = 0; k < run; ++k, from += slots * stride) {
        if (i + k * slots < length) __pipeline_memcpy_async(&stages[stage][k][threadIdx.x], from, sizeof(uint4));
      }
      __pipeline_commit();
    };
    state rare[size];  // sums of terms that left the window
    bool has_rare = false;
    const auto flush = [&](state s, unsigned c) {
      if (has_rare) A::merge(s, rare[c]);
      rare[c] = s;
      if (c + 1 == size) has_rare = true;
    };
    bool is_first = true;
    unsigned stage = 0;
    copy(0, slot);
#pragma unroll 1
    for (unsigned i = slot; i < length; i += step) {
      if (!window.has_room(run)) window.close(flush);
      copy(stage ^ 1, i + step);
      __pipeline_wait_prior(1);
      registers_of_words<T, size * run> words;
#pragma unroll
      for (unsigned k = 0; k < run; ++k) {
        const vector<T> none = negative_zeros<T>();
        uint4 v;
        std::memcpy(&v, &none, sizeof v);
        if (i + k * slots < length) v = stages[stage][k][threadIdx.x];
        std::memcpy(words + 4 * k, &v, sizeof v);
      }
      const vectors_of_run pairs(words, words, all.rule);
      if (is_first) window.restart(window.unit_for(pairs));
      is_first = false;
      if (!window.add(pairs)) {
        const auto of_row = [&](unsigned k, const auto& f) {
          registers_of_words<T, size> of_vector;
          std::memcpy(of_vector, &stages[stage][k][threadIdx.x], sizeof of_vector);
          f(vector_of_row(of_vector, of_vector, all.rule));
        };
#pragma unroll 1
        for (unsigned k = 0; k < run && i + k * slots < length; ++k) {
          of_row(k, [&](const auto& few) {
            if (window.add_again(few, flush)) return;
            const T* const from = reinterpret_cast<const T*>(&stages[stage][k][threadIdx.x]);
#pragma unroll 1
            for (unsigned c = 0; c < size; ++c) {
              const auto one = read<A>(all, from[c]);
              flush(window.state_of(pair_of_numbers(one, one)), c);
            }
          });
        }
      }
      stage ^= 1;
    }
    __pipeline_wait_prior(0);
    if (window.is_empty()) {
#pragma unroll 1
      for (unsigned c = 0; !has_rare && c < size; ++c) rare[c] = A::identity();
    } else {
      window.close(flush);
    }
#pragma unroll 1
    for (unsigned c = 0; c < size; ++c) {
      state s = rare[c];
#pragma unroll 1
      for (unsigned distance = slots / 2; distance > 0; distance /= 2) {
        if (slot >= distance && slot < 2 * distance) others[(slot - distance) * width + column] = s;
        __syncthreads();
        if (slot < distance) A::merge(s, others[slot * width + column]);
        __syncthreads();
      }
      if (slot > 0 || !exists) continue;
      write({all.first + first + c, begin, end, 0, 0, 0, (first + c) * all.chunks + chunk, all.chunks}, 0, s);
    }
  }
}

}  // namespace fanin::cuda
