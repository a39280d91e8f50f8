// SPDX-License-Identifier: Apache-2.0
// Rows along another axis than the last one, where the elements of neighbouring rows fill whole vectors: the fast
// case of columns_kernel.cuh, with the same order. A thread folds some slots of as many rows as a vector has
// elements.
#pragma once

#include "backends/cuda/batch/add_vector.cuh"
#include "backends/cuda/batch/items.cuh"
#include "backends/cuda/integer_log_sum.hpp"

namespace fanin::cuda {

namespace tuning {
/// Threads of a block, whose states have to fit into 48 KiB of shared memory.
template <class A>
inline constexpr unsigned whole_column_threads = sizeof(typename A::state) * vector<typename A::element>::size <= 192
                                                     ? 256
                                                     : 128;
/// Whether an addition to a state of A takes many instructions, whose latency is hidden by many threads.
template <class A>
inline constexpr bool adds_slowly = adds_all_of_vector<A> || (adds_words<A> && !A::order_free);
/// Whether the states of a vector of short elements take so many registers that a thread folds one slot of them.
template <class A>
inline constexpr bool has_room_for_one_slot =
    !A::order_free && sizeof(typename A::element) == 2 && sizeof(typename A::state) > 8;
/// Vectors of A that a thread loads before it adds the first, and the elements of all slots that it folds. These are
/// the elements of a vector or more.
template <class A>
inline constexpr unsigned column_states =
    (adds_slowly<A> && vector<typename A::element>::size < 16) || fills_registers<A> || has_room_for_one_slot<A> ? 8
                                                                                                                 : 16;
/// An addition of log_sum_exp waits for an exponential. Threads with fewer elements each are more threads, which hide
/// that.
template <>
inline constexpr unsigned column_states<by_word<std::uint64_t, accumulator::log_sum<double>>> = 4;
template <class A>
inline constexpr unsigned column_loads = vector<typename A::element>::size == 8 ? 8 : column_states<A>;
/// Rows of a slot that a thread loads at once. With half of a vector of bytes, long states stay in registers.
template <class A>
inline constexpr unsigned rows_at_once = A::order_free && sizeof(typename A::element) == 1 &&
                                                 sizeof(typename A::state) > 8
                                             ? 8
                                             : vector<typename A::element>::size;
/// Blocks of a multiprocessor.
template <class A>
inline constexpr int whole_column_blocks =
    (column_loads<A> == 16 || fills_registers<A> ? 512 : 768) / whole_column_threads<A>;
}  // namespace tuning

/// Slots that a thread folds.
template <class A>
inline constexpr unsigned slots_of_columns = tuning::column_states<A> / vector<typename A::element>::size;

/// Merges the states of all slots into the states of slot 0. Each thread has states s[0], s[1], ... of its slot.
/// `memory` has room for the states of half of the block's threads. All threads of the block call the function.
template <class A, unsigned N>
__device__ void merge_slots(typename A::state (&s)[N], std::byte* memory, unsigned slots, unsigned width) {
  const unsigned column = threadIdx.x % width, slot = threadIdx.x / width;
  auto* const others = reinterpret_cast<typename A::state*>(memory);
  for (unsigned distance = slots / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (unsigned c = 0; c < N; ++c) {
      if (slot >= distance && slot < 2 * distance) others[((slot - distance) * N + c) * width + column] = s[c];
    }
    __syncthreads();
#pragma unroll
    for (unsigned c = 0; c < N; ++c) {
      if (slot < distance) A::merge(s[c], others[(slot * N + c) * width + column]);
    }
    __syncthreads();
  }
}

/// `width` threads of the block are for vectors of neighbouring rows, and so for each slot, or each turn of
/// slots_of_columns() slots.
template <class A, class Write>
__global__ void __launch_bounds__(tuning::whole_column_threads<A>, tuning::whole_column_blocks<A>)
    whole_columns_kernel(const __grid_constant__ batch_elements all, unsigned width,
                         const __grid_constant__ Write write) {
  using T = typename A::element;
  using state = typename A::state;
  constexpr unsigned size = vector<T>::size, mine = slots_of_columns<A>, states = A::order_free ? 1 : mine;
  constexpr unsigned rows = tuning::rows_at_once<A>;
  overlap_with_next_launch();
  const unsigned column = threadIdx.x % width, slot = threadIdx.x / width, slots = blockDim.x / width;
  const std::uint64_t vectors = all.results / size, tiles = (vectors + width - 1) / width;
  const std::int64_t stride = all.axes[all.kept].stride[0];
  for (std::uint64_t turn = blockIdx.x; turn < tiles * all.chunks; turn += gridDim.x) {
    const std::uint64_t chunk = turn / tiles, first = ((turn - chunk * tiles) * width + column) * size;
    const std::uint64_t begin = chunk * all.chunk;
    const unsigned length = static_cast<unsigned>(::min(begin + all.chunk, all.length) - begin);
    const bool exists = first < all.results;
    axis_offsets at;
    if (exists) at.add_all(all.axes, all.kept, all.first + first);
    const T* const origin = static_cast<const T*>(all.x) + at.x + static_cast<std::int64_t>(begin) * stride;
    state s[states][size];
#pragma unroll
    for (auto& of_slot : s) {
#pragma unroll
      for (state& one : of_slot) one = A::identity();
    }
#pragma unroll 1
    for (unsigned i = slot * size; exists && i < length; i += slots * mine * size) {
      const T* x = origin + static_cast<std::int64_t>(i) * stride;
      const std::int64_t step = static_cast<std::int64_t>(slots * size) * stride;
      if (i + (slots * (mine - 1) + 1) * size <= length) {
        constexpr unsigned at_once = tuning::column_loads<A> / size;  // slots
#pragma unroll
        for (unsigned first_slot = 0; first_slot < mine; first_slot += at_once) {
#pragma unroll 1
          for (unsigned row = 0; row < size; row += rows) {
            loaded_vector<A> v[at_once][rows];
#pragma unroll
            for (unsigned m = 0; m < at_once; ++m) {
#pragma unroll
              for (unsigned k = 0; k < rows; ++k) {
                v[m][k] = load_for<A>(
                    reinterpret_cast<const vector<T>*>(x + static_cast<std::int64_t>(row + k) * stride + m * step));
              }
            }
#pragma unroll
            for (unsigned m = 0; m < at_once; ++m) {
              add_columns<A>(all, s[(first_slot + m) % states], v[m],
                             begin + i + (first_slot + m) * slots * size + row);
            }
          }
          x += at_once * step;
        }
      } else {
#pragma unroll
        for (unsigned m = 0; m < mine; ++m) {
          const unsigned from = i + m * slots * size;
#pragma unroll 1
          for (unsigned k = 0; k < size && from + k < length; ++k) {
            const vector<T> of_row =
                load(reinterpret_cast<const vector<T>*>(x + static_cast<std::int64_t>(k) * stride));
            const auto v = read_all<A>(all, of_row.at);
#pragma unroll
            for (unsigned c = 0; c < size; ++c) add_at<A>(s[m % states][c], begin + from + k, v.at[c]);
          }
          x += step;
        }
      }
    }
#pragma unroll
    for (unsigned distance = states / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (unsigned m = 0; m < distance; ++m) {
#pragma unroll
        for (unsigned c = 0; c < size; ++c) A::merge(s[m][c], s[m + distance][c]);
      }
    }
    __shared__ __align__(16) std::byte memory[tuning::whole_column_threads<A> * sizeof(state) * size];
    if constexpr (ends_slowly<A>) {
      with_plain_sums<A>(
          s[0], [](bool is_plain) { return __syncthreads_and(is_plain) != 0; },
          [&]<class M>(auto& merged, M) { merge_slots<M>(merged, memory, slots, width); });
    } else {
      merge_slots<A>(s[0], memory, slots, width);
    }
    state* const others = reinterpret_cast<state*>(memory);
    if (slot == 0) {
#pragma unroll
      for (unsigned c = 0; c < size; ++c) others[column * size + c] = s[0][c];
    }
    __syncthreads();
    const std::uint64_t tile = (turn - chunk * tiles) * width * size;
    const auto results = static_cast<unsigned>(::min(all.results - tile, std::uint64_t{width * size}));
#pragma unroll 1
    for (unsigned r = threadIdx.x; r < results; r += blockDim.x) {
      state one = others[r];
      const std::uint64_t i = tile + r;
      if constexpr (adds_runs<A>) {
        axis_offsets of_row;
        of_row.add_all(all.axes, all.kept, all.first + i);
        locate<A>(all, one, static_cast<const T*>(all.x) + of_row.x, stride, begin + length);
      }
      write({all.first + i, begin, begin + length, 0, 0, 0, i * all.chunks + chunk, all.chunks}, 0, one);
    }
    __syncthreads();
  }
}

}  // namespace fanin::cuda
