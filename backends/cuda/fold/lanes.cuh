// SPDX-License-Identifier: Apache-2.0
// Exact sums as lanes in device memory (docs/exact-format.md): from the states that kernels of exact sums leave, and
// from summed lanes to the value.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/exact/exact_finish.cuh"
#include "backends/cuda/fold/lanes.hpp"
#include "backends/cuda/presence/presence_counts.hpp"

namespace fanin::cuda {

/// The words of a sum as lanes, and the counters behind them.
template <class T, int Power>
inline constexpr int lane_words = basic_exact_accumulator<T, Power>::sum_type::limb_count;
enum lane_counter { values, unknown, numbers, negative_zeros, specials };

/// Writes the sum of the chunks, and of the lanes of an earlier sum, as lanes. One thread calls it.
template <class T, int Power>
__device__ void write_words(const chunk_sums<T, Power>& total, const std::int64_t* earlier, std::int64_t* lanes) {
  constexpr int words = lane_words<T, Power>;
  std::int64_t carry = 0;
  FANIN_ROLLED for (int i = 0; i < words; ++i) {
    const std::int64_t low = total.chunk[2 * i] + carry, high = total.chunk[2 * i + 1] + (low >> 16);
    const std::int64_t word = ((high & 0xffff) << 16 | (low & 0xffff)) + earlier[i];
    lanes[i] = i + 1 < words ? word & 0xffffffff : static_cast<std::int32_t>(word);
    carry = (high >> 16) + (word >> 32);
  }
}

/// Writes the lanes of the sum of `run`, whose states are of chunk_sums<T, Power>. One block calls it.
template <class T, int Power>
__global__ void __launch_bounds__(lane_threads) lanes_kernel(const lane_source run, std::int64_t* lanes) {
  device_code::overlap_with_next_launch();
  using sums = chunk_sums<T, Power>;
  __shared__ sums total;
  __shared__ std::int64_t earlier[lane_words<T, Power>];
  const auto state = [&](std::size_t i) -> const sums& {
    return *reinterpret_cast<const sums*>(run.states + i * most_state_bytes);
  };
  if (threadIdx.x == 0) total.seen = 0;
  __syncthreads();
  for (std::size_t k = threadIdx.x; k < run.count; k += lane_threads) atomicOr(&total.seen, state(k).seen);
  for (int i = static_cast<int>(threadIdx.x); i < sums::count; i += lane_threads) {
    std::int64_t sum = 0;
#pragma unroll 16
    for (std::size_t k = 0; k < run.count; ++k) sum += state(k).chunk[i];
    total.chunk[i] = sum;
    if (i < lane_words<T, Power>) earlier[i] = run.goes_on ? lanes[i] : 0;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  write_words(total, earlier, lanes);

  std::int64_t* const counters = lanes + lane_words<T, Power>;
  unsigned seen = total.seen;
  if (run.goes_on) {
    for (int bit = 0; bit < 3; ++bit) seen |= counters[specials + bit] != 0 ? 1u << bit : 0;
    if (counters[numbers] != 0) seen |= seen_bits::not_negative_zero;
  }
  const std::uint64_t count = run.present != nullptr ? run.present->present : run.elements;
  if (count == 0) seen = 0;  // Stand-ins of absent elements are none.
  counters[values] = static_cast<std::int64_t>(count);
  counters[unknown] = 0;
  counters[numbers] = seen != 0;
  counters[negative_zeros] = seen == 0 && count > 0;
  for (int bit = 0; bit < 3; ++bit) counters[specials + bit] = seen >> bit & 1;
}

/// Writes the value of lanes that were summed over up to 2^31 states. One warp calls it.
template <class T, int Power>
__global__ void __launch_bounds__(32)
    value_of_lanes_kernel(const std::int64_t* lanes, sum_value value, const value_place place) {
  device_code::overlap_with_next_launch();
  using sums = chunk_sums<T, Power>;
  constexpr int words = lane_words<T, Power>;
  __shared__ sums total;
  for (int i = static_cast<int>(threadIdx.x); i < words; i += 32) {
    total.chunk[2 * i] = lanes[i] & 0xffff;
    total.chunk[2 * i + 1] = lanes[i] >> 16;
  }
  const std::int64_t* const counters = lanes + words;
  if (threadIdx.x == 0) {
    for (int i = 2 * words; i < sums::count; ++i) total.chunk[i] = 0;
    const bool without_mean = counters[values] == 0 || counters[unknown] > 0;
    unsigned seen = value == sum_value::mean && without_mean ? seen_bits::nan : 0;
    for (int bit = 0; bit < 3; ++bit) seen |= counters[specials + bit] > 0 ? 1u << bit : 0;
    if (counters[numbers] > 0 || counters[negative_zeros] == 0) seen |= seen_bits::not_negative_zero;
    total.seen = seen;
  }
  __syncthreads();
  exact_sum_writer<T, Power>{nullptr, place, value, static_cast<std::uint64_t>(counters[values])}(total);
}

}  // namespace fanin::cuda
