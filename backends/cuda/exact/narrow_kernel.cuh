// SPDX-License-Identifier: Apache-2.0
// Exact sums of terms of 8 and 16 bits in one launch. The formats of a width share the kernels.
#pragma once

#include <fanin/cuda/fold_kernel.cuh>

#include "backends/cuda/exact/grid_sums.cuh"
#include "backends/cuda/exact/narrow_window.cuh"
#include "backends/cuda/exact/shapes.hpp"

namespace fanin::cuda {

/// One or two arrays of words, and how they become terms.
template <class Word>
struct narrow_arrays : peeled_array<Word> {
  second_array<Word> y;
  element_rule rule;

  narrow_arrays(const void* x, const void* of_y, std::uint64_t count, const element_rule& by)
      : peeled_array<Word>(static_cast<const Word*>(x), count), y(second_array<Word>::of(x, of_y)), rule(by) {}
};

/// Loads elements of the second array that are not at boundaries of vectors. A function of its own: its code is long.
template <class Word>
__device__ __noinline__ uint4 gathered(second_array<Word> y, const vector<Word>* x) {
  const vector<Word> v = y.gather(x);
  uint4 words;
  std::memcpy(&words, &v, sizeof v);
  return words;
}

/// The inputs of a sum.
constexpr int inputs_of(narrow_terms what) { return what == narrow_terms::products ? 2 : 1; }
template <narrow_terms What>
using narrow_sums = std::conditional_t<What == narrow_terms::moments, chunk_moments<float>,
                                       chunk_sums<float, What == narrow_terms::numbers ? 1 : 2>>;

/// `total` and `write` are those of finish_grid(). What is no element of the first array is -0, so that terms are.
template <class Word, narrow_terms What, int Threads, class Write>
__global__ void __launch_bounds__(Threads, 1)
    narrow_kernel(const __grid_constant__ narrow_arrays<Word> x, narrow_sums<What>* total, unsigned* ticket,
                  const __grid_constant__ Write write) {
  constexpr int inputs = inputs_of(What), loads = tuning::narrow_shape(sizeof(Word), inputs).loads;
  constexpr int eights = narrow_reader<Word>::eights, warps = Threads / 32;
  constexpr std::uint32_t none = upper_bits<Word>;
  using window = narrow_window<Word, What, warps, loads * eights>;
  __shared__ typename window::block_sums block;
  __shared__ narrow_sums<What> result;
  block.clear();
  __syncthreads();
  overlap_with_next_launch();

  window sums(x.rule, block, total);
  const narrow_reader<Word> reader(x.rule);
  uint4 next[loads][inputs];
  typename window::eight_terms terms[loads * eights];
  const auto read_all = [&] {
#pragma unroll
    for (int k = 0; k < loads; ++k) {
#pragma unroll
      for (int input = 0; input < inputs; ++input) reader.read(next[k][input], &terms[k * eights], input);
    }
  };
  const unsigned stride = gridDim.x * Threads, warp_thread = threadIdx.x % 32;
  const auto load_round = [&](std::uint64_t first) {
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      const std::uint64_t i = first + std::uint64_t{stride} * k + warp_thread;
      const vector<Word>* const from = x.body + i;
      next[k][0] = {none, none, none, none};
      if constexpr (inputs == 2) next[k][1] = {};
      if (i >= x.vectors) continue;
      next[k][0] = __ldg(reinterpret_cast<const uint4*>(from));
      if constexpr (inputs == 2) {
        next[k][1] = x.y.is_aligned() ? __ldg(reinterpret_cast<const uint4*>(x.y.at(from))) : gathered(x.y, from);
      }
    }
  };
  std::uint64_t first = blockIdx.x * Threads + threadIdx.x - warp_thread;
  load_round(first);
#pragma unroll 1
  for (;; first += std::uint64_t{stride} * loads) {
    const bool has_terms = first < x.vectors;
    if (has_terms) {
      read_all();
      load_round(first + std::uint64_t{stride} * loads);
    }
    if (!has_terms || sums.wants_window()) {
      sums.flush();
      if (!has_terms) break;
      sums.choose(terms);
    }
    sums.add(terms);
  }
  const unsigned ends = x.head_count + x.tail_count;
  if (blockIdx.x == 0 && threadIdx.x - warp_thread < ends) {
    load_round(x.vectors);  // nothing
    if (threadIdx.x < ends) {
      const Word* const from =
          threadIdx.x < x.head_count ? x.head + threadIdx.x : x.tail + (threadIdx.x - x.head_count);
      next[0][0].x = (none & ~std::uint32_t{Word(~Word{0})}) | *from;
      if constexpr (inputs == 2) next[0][1].x = *x.y.at(from);
    }
    read_all();
    sums.add_apart(terms);
  }
  sums.finish();
  __syncthreads();
  finish_grid<Threads>(block, result, total, ticket, write);
}

}  // namespace fanin::cuda
