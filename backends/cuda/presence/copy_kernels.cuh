// SPDX-License-Identifier: Apache-2.0
// Kernels over elements that may be absent, as words of their size.
#pragma once

#include "backends/cuda/presence/is_present.cuh"
#include "backends/cuda/presence/presence_counts.hpp"

namespace fanin::cuda {

inline constexpr unsigned presence_threads = 256;  ///< threads in a block
inline constexpr unsigned presence_loads = 8;      ///< elements that a thread loads before it tests the first

/// The bits of a complex number: a word for each part.
template <class Word>
struct alignas(2 * sizeof(Word)) word_pair {
  Word re, im;
};
template <class U>
struct word_of_bits {
  using type = U;
};
template <class Word>
struct word_of_bits<word_pair<Word>> {
  using type = Word;
};
template <class U>
using component_word = typename word_of_bits<U>::type;

/// Elements as their bits of type U, and their mask.
template <class U>
struct words {
  const U* x;
  const U* y;  ///< null for operations of one input
  mask_view mask;
  std::uint64_t count;
  component_word<U> largest_number;

  template <class Word>
  __device__ bool is_number(Word bits) const {
    return is_at_most(bits, largest_number);
  }
  template <class Word>
  __device__ bool is_number(const word_pair<Word>& bits) const {
    return is_number(bits.re) && is_number(bits.im);
  }
  __device__ U y_at(std::uint64_t i) const { return y != nullptr ? y[i] : U{}; }
  __device__ bool takes_part(std::uint64_t i) const {
    return is_number(x[i]) && is_number(y_at(i)) && is_in_mask(mask, i);
  }
};

/// *first becomes the smaller of itself and the index of the first element that takes part.
template <class U>
__global__ void __launch_bounds__(presence_threads) find_first(const words<U> from, unsigned long long* first) {
  const std::uint64_t turn = std::uint64_t{gridDim.x} * presence_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * presence_threads + threadIdx.x; i < from.count; i += turn) {
    if (*static_cast<volatile unsigned long long*>(first) < i) return;
    if (!from.takes_part(i)) continue;
    atomicMin(first, static_cast<unsigned long long>(i));
    return;
  }
}

/// The words that stand for absent elements. These are bits, or in place of `for_x` the first element that takes
/// part.
template <class U>
struct stand_ins {
  bool is_first_present;
  U for_x, for_y;
};

/// The elements begin, ..., begin + count - 1 of the copies, which x and y have room for.
template <class U>
struct copied_words {
  std::uint64_t begin, count;
  U* x;
  U* y;
};

/// Copies the elements from counts->first on. Stand-ins are written for absent elements, and behind the last
/// element. Adds the number of elements that take part to counts->present.
template <class U>
__global__ void __launch_bounds__(presence_threads)
    copy_present(const words<U> from, const stand_ins<U> absent, const copied_words<U> to, presence_counts* counts) {
  __shared__ unsigned found_in_block;
  if (threadIdx.x == 0) found_in_block = 0;
  __syncthreads();
  const std::uint64_t first = counts->first;
  const std::uint64_t last = first < from.count ? from.count - first : 0;  // elements of the copies before stand-ins
  const U for_x = absent.is_first_present && last > 0 ? from.x[first] : absent.for_x;
  unsigned found = 0;
  const std::uint64_t tile = presence_threads * presence_loads, turn = gridDim.x * tile;
  for (std::uint64_t begin = blockIdx.x * tile + threadIdx.x; begin < to.count; begin += turn) {
    // All loads come before the tests, and these before the stores: they are in flight together.
    bool there[presence_loads];
    U of_x[presence_loads], of_y[presence_loads];
#pragma unroll
    for (unsigned k = 0; k < presence_loads; ++k) {
      const std::uint64_t i = begin + k * presence_threads, place = first + to.begin + i;
      there[k] = i < to.count && to.begin + i < last;
      if (!there[k]) continue;
      of_x[k] = from.x[place];
      of_y[k] = from.y_at(place);
      there[k] = is_in_mask(from.mask, place);
    }
#pragma unroll
    for (unsigned k = 0; k < presence_loads; ++k) {
      const std::uint64_t i = begin + k * presence_threads;
      if (i >= to.count) continue;
      const bool present = there[k] && from.is_number(of_x[k]) && from.is_number(of_y[k]);
      found += present ? 1 : 0;
      to.x[i] = present ? of_x[k] : for_x;
      if (from.y != nullptr) to.y[i] = present ? of_y[k] : absent.for_y;
    }
  }
  atomicAdd(&found_in_block, found);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&counts->present),
              static_cast<unsigned long long>(found_in_block));
  }
}

}  // namespace fanin::cuda
