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

/// Makes numbers of 16 bits of words, in an order of their own.
template <class Word>
class narrow_reader {
 public:
  static constexpr int eights = 16 / sizeof(Word) / 8;  ///< of a vector
  __device__ explicit narrow_reader(const element_rule& rule)
      : shift_(rule.type == element_type::e4m3 ? 1 : 0), magnitude_((0x7f00u >> shift_) * both_halves) {}

  /// Stores the numbers in one[eights - 1].of[factor] and before.
  template <class Eight>
  __device__ void read(const vector<Word>& v, Eight* to, int factor) const {
    std::uint32_t words[4];
    std::memcpy(words, &v, sizeof v);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(Word) == 2) {
        to->of[factor].pair[i] = words[i];
      } else {
        to[0].of[factor].pair[i] = widened(words[i]);
        to[1].of[factor].pair[i] = widened(words[i] << 8);
      }
    }
  }

 private:
  /// The numbers in the upper bytes of both halves.
  __device__ std::uint32_t widened(std::uint32_t pair) const {
    return (pair & signs_of_pair) | ((pair & 0x7f007f00) >> shift_ & magnitude_);
  }
  unsigned shift_;
  std::uint32_t magnitude_;
};

template <class Word>
__device__ vector<Word> filled(Word word) {
  vector<Word> v;
#pragma unroll
  for (Word& one : v.at) one = word;
  return v;
}

/// Loads elements of the second array that are not at boundaries of vectors. A function of its own: its code is long.
template <class Word>
__device__ __noinline__ vector<Word> gathered(second_array<Word> y, const vector<Word>* x) {
  return y.gather(x);
}

/// The inputs of a sum.
constexpr int inputs_of(narrow_terms what) { return what == narrow_terms::products ? 2 : 1; }
template <narrow_terms What>
using narrow_sums = std::conditional_t<What == narrow_terms::moments, chunk_moments<float>,
                                       chunk_sums<float, What == narrow_terms::numbers ? 1 : 2>>;

/// `total` and `write` are those of finish_grid().
template <class Word, narrow_terms What, int Threads, class Write>
__global__ void __launch_bounds__(Threads, 1024 / Threads)
    narrow_kernel(const __grid_constant__ narrow_arrays<Word> x, narrow_sums<What>* total, unsigned* ticket,
                  const __grid_constant__ Write write) {
  constexpr int inputs = inputs_of(What), loads = tuning::narrow_shape(sizeof(Word), inputs).loads;
  constexpr int eights = narrow_reader<Word>::eights, warps = Threads / 32;
  using window = narrow_window<Word, What, warps, loads * eights>;
  __shared__ typename window::block_sums block;
  __shared__ narrow_sums<What> result;
  block.clear();
  __syncthreads();
  overlap_with_next_launch();

  window sums(x.rule, block, total);
  const narrow_reader<Word> reader(x.rule);
  typename window::eight_terms terms[loads * eights];
  const auto read = [&](int k, const vector<Word>& v, const auto& of_y) {
    reader.read(v, &terms[k * eights], 0);
    if constexpr (inputs == 2) reader.read(of_y(), &terms[k * eights], 1);
  };
  const unsigned stride = gridDim.x * Threads, lane = threadIdx.x % 32;
#pragma unroll 1
  for (std::uint64_t first = blockIdx.x * Threads + threadIdx.x - lane;; first += std::uint64_t{stride} * loads) {
    const bool has_terms = first < x.vectors;
    if (has_terms) {
#pragma unroll
      for (int k = 0; k < loads; ++k) {
        const std::uint64_t i = first + std::uint64_t{stride} * k + lane;
        const vector<Word>* const from = x.body + i;
        const bool is_here = i < x.vectors;
        read(k, is_here ? load(from) : filled(upper_bit<Word>), [&] {
          return !is_here ? filled<Word>(0) : x.y.is_aligned() ? load(x.y.at(from)) : gathered(x.y, from);
        });
      }
    }
    if (!has_terms || sums.wants_window()) {
      sums.flush();
      if (!has_terms) break;
      sums.choose(terms);
    }
    sums.add(terms);
  }
  if (blockIdx.x == 0 && threadIdx.x - lane < x.head_count + x.tail_count) {
    const bool in_head = threadIdx.x < x.head_count, is_here = threadIdx.x < x.head_count + x.tail_count;
    const Word* const from = in_head ? x.head + threadIdx.x : x.tail + (threadIdx.x - x.head_count);
#pragma unroll
    for (int k = 0; k < loads; ++k) {
      vector<Word> last = filled(upper_bit<Word>), of_y = filled<Word>(0);
      if (k == 0 && is_here) {
        last.at[0] = *from;
        if constexpr (inputs == 2) of_y.at[0] = *x.y.at(from);
      }
      read(k, last, [&] { return of_y; });
    }
    sums.add_apart(terms);
  }
  sums.finish();
  __syncthreads();
  finish_grid<Threads>(block, result, total, ticket, write);
}

}  // namespace fanin::cuda
