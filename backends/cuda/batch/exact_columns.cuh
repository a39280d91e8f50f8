// SPDX-License-Identifier: Apache-2.0
// Exact sums of rows along another axis than the last one, if the elements of neighbouring rows fill whole
// vectors. These additions have no order to keep. A thread folds one slot of several neighbouring rows. It copies
// its next elements into shared memory while it adds the elements before them.
#pragma once

#include <algorithm>

#include <cuda_pipeline.h>

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/batch/scaled_sum.cuh"

namespace fanin::cuda {

namespace tuning {
inline constexpr unsigned exact_column_threads = 256;
/// The number of elements that a thread adds at once, for each of its rows.
template <class T>
inline constexpr unsigned exact_column_run = sizeof(T) < 4 ? 8 : 4;
/// The number of elements that a thread copies ahead, as a multiple of the elements that it adds at once.
template <class T>
inline constexpr unsigned exact_column_stages = sizeof(T) < 4 ? 1 : 2;
/// Blocks that share a multiprocessor, for states of so many bytes in a thread.
constexpr int exact_column_blocks(std::size_t bytes) { return bytes > 128 ? 2 : 4; }
}  // namespace tuning

/// Adds the c-th words of vectors to s[c].
template <unsigned Run>
__device__ void add_halves(const element_rule& rule, scaled_vector<float>::state (&s)[8],
                           const vector<std::uint16_t> (&v)[Run]) {
  std::uint32_t registers[Run][4];
  std::memcpy(registers, v, sizeof v);
  const std::uint32_t kept = rule.magnitudes ? ~upper_bits<std::uint16_t> : ~0u;
  with_format<std::uint16_t>(rule, [&]<class Format>(Format) {
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
      std::uint32_t pairs[Run];
#pragma unroll
      for (unsigned k = 0; k < Run; ++k) pairs[k] = registers[k][r] & kept;
      scaled_vector<float>::add_halves<Format>(s[2 * r], s[2 * r + 1], pairs);
    }
  });
}

/// `width` threads of the block are for vectors of neighbouring rows, and so for each slot.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::exact_column_threads,
                                  tuning::exact_column_blocks(vector<typename A::element>::size *
                                                              sizeof(typename A::state)))
    exact_columns_kernel(const __grid_constant__ batch_elements all, unsigned width,
                         const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr unsigned size = vector<T>::size, run = tuning::exact_column_run<T>;
  constexpr unsigned threads = tuning::exact_column_threads, stages = tuning::exact_column_stages<T>;
  using stage_of_block = vector<T>[run][threads];
  // The states of slots take the memory of the elements when these are added.
  alignas(16)
      __shared__ std::byte memory[std::max(stages * sizeof(stage_of_block), threads / 2 * sizeof(state) * size)];
  auto* const staged = reinterpret_cast<stage_of_block*>(memory);
  state* const others = reinterpret_cast<state*>(memory);
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
    const T* const x = static_cast<const T*>(all.x) + at.x + static_cast<std::int64_t>(begin) * stride;
    const unsigned length = exists ? static_cast<unsigned>(end - begin) : 0, step = slots * run;
    // Neighbouring slots have neighbouring elements of a row.
    const auto copy = [&](unsigned stage, unsigned i) {
      const T* from = x + std::int64_t{i} * stride;
#pragma unroll
      for (unsigned k = 0; k < run; ++k, from += slots * stride) {
        if (i + k * slots < length) __pipeline_memcpy_async(&staged[stage][k][threadIdx.x], from, 16);
      }
      __pipeline_commit();
    };
    state s[size];
#pragma unroll
    for (state& one : s) one = A::identity();
    unsigned stage = 0;
#pragma unroll
    for (unsigned k = 0; k < stages; ++k) copy(k, slot + k * step);
#pragma unroll 1
    for (unsigned i = slot; i < length; i += step) {
      __pipeline_wait_prior(stages - 1);
      vector<T> v[run];
#pragma unroll
      for (unsigned k = 0; k < run; ++k) v[k] = staged[stage][k][threadIdx.x];
      copy(stage, i + stages * step);
      stage = (stage + 1) % stages;
      if (i + (run - 1) * slots >= length) {
#pragma unroll
        for (unsigned k = 0; k < run; ++k) {
          if (i + k * slots < length) continue;
          v[k] = negative_zeros<T>();
        }
      }
      if constexpr (std::is_same_v<A, by_word<std::uint16_t, scaled_sum<f16>>>) {
        add_halves(all.rule, s, v);
      } else {
#pragma unroll
        for (unsigned c = 0; c < size; ++c) {
          T of_row[run];
#pragma unroll
          for (unsigned k = 0; k < run; ++k) of_row[k] = v[k].at[c];
          A::add_vector(s[c], read_all<A>(all, of_row).at);
        }
      }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
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
