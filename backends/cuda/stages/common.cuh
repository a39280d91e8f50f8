// SPDX-License-Identifier: Apache-2.0
// What stages have in common: their row of the table, their kernel's arguments, and reading and writing
// one value. A stage's file spells its loops; what it adds, later stages include from there.
#pragma once

#include <cstdint>
#include <string_view>

#include <nv/target>

#include <fanin/cuda/shuffle.cuh>
#include <fanin/cuda/strided.cuh>

#include "backends/cuda/recipes.hpp"
#include "backends/cuda/runtime/dynamic_shared.cuh"
#include "backends/cuda/stages/ladder.hpp"
#include "backends/cuda/stages/steps.hpp"

namespace fanin::cuda {

using namespace device_code;

/// The largest block; kernels keep to the registers that it leaves each thread.
inline constexpr unsigned most_threads = 1024;

/// What a stage's kernel gets.
template <class Element, class State>
struct basic_stage_arguments {
  const Element* data;
  std::uint64_t count;
  State* copy;         ///< the input as states, for stages that work in place
  State* partials;     ///< one for each block
  State* result;       ///< written by stages that need no second step
  unsigned* arrivals;  ///< blocks that are done; 0 before and after every launch
  long long* cycles;   ///< one for each block, or null
};
template <class A>
using stage_arguments = basic_stage_arguments<typename A::element, typename A::state>;

/// The properties of most stages. A stage redeclares those that differ.
struct stage_defaults {
  static constexpr fanin::reproducibility reproducibility = fanin::reproducibility::run_to_run;
  static constexpr stage_ending ending = stage_ending::second_step;
  static constexpr bool in_place = false;
  static constexpr bool cooperative = false;
  static constexpr bool resident = false;  ///< no more blocks than fit on the device at once
  static constexpr unsigned block_size = 256;
  static constexpr unsigned rounded(unsigned threads) { return threads; }
  static constexpr unsigned tile(unsigned threads, unsigned) { return threads; }
  static constexpr unsigned tiles_under_way = 1;
  static constexpr std::size_t shared_bytes(unsigned, unsigned) { return 0; }
  static constexpr int architecture = 75;  ///< the least compute capability, as 75 for 7.5
  template <operation What, class T>
  static constexpr bool serves = What == operation::sum;
};

/// Counts the clock cycles of a block, from here to its partial.
class stopwatch {
 public:
  __device__ explicit stopwatch(long long* cycles) : cycles_(cycles) {
    if (cycles_ != nullptr) begin_ = clock64();
  }
  __device__ void stop() const {
    if (cycles_ != nullptr) cycles_[blockIdx.x] = clock64() - begin_;
  }

 private:
  long long* cycles_;
  long long begin_ = 0;
};

/// The block's partial is thread 0's `value`.
template <class A>
__device__ void store_partial(const stage_arguments<A>& a, const stopwatch& watch, const typename A::state& value) {
  if (threadIdx.x == 0) {
    a.partials[blockIdx.x] = value;
    watch.stop();
  }
}

/// The block's partial is values[0], or the neutral element if there are no values.
template <class A>
__device__ void store_first(const stage_arguments<A>& a, const stopwatch& watch, const typename A::state* values,
                            unsigned size) {
  if (threadIdx.x == 0) {
    a.partials[blockIdx.x] = size > 0 ? values[0] : A::identity();
    watch.stop();
  }
}

/// Element i, or the neutral element behind the end of the input.
template <class A>
__device__ typename A::state load(const stage_arguments<A>& a, std::uint64_t i) {
  auto s = A::identity();
  if (i < a.count) A::add(s, a.data[i]);
  return s;
}

/// This thread's element. A block reads one element for each thread.
template <class A>
__device__ typename A::state load_one(const stage_arguments<A>& a) {
  return load<A>(a, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x);
}

/// The block's part of the copy that stages in place work on.
template <class State>
struct block_part {
  State* values;
  unsigned size;
};
template <class A, unsigned Tiles = 1>
__device__ block_part<typename A::state> part_of_copy(const stage_arguments<A>& a) {
  const auto begin = std::uint64_t{blockIdx.x} * blockDim.x * Tiles;
  return {a.copy + begin, steps::in_tile(begin, a.count, blockDim.x * Tiles)};
}

/// This thread's share of the partials, in order. One block adds all partials, and block_fold adds the shares.
template <class A, unsigned Unroll>
__device__ typename A::state fold_partials(const typename A::state* partials, std::uint64_t count) {
  auto s = A::identity();
  for_each_strided<Unroll>(partials, threadIdx.x, count, blockDim.x, [&](const auto& p) { A::merge(s, p); });
  return s;
}

}  // namespace fanin::cuda
