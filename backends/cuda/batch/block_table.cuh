// SPDX-License-Identifier: Apache-2.0
// A table of sums in shared memory, which a block adds to the sums in device memory at the end. Few groups have
// several copies, so that the lanes of a warp seldom meet in a word.
#pragma once

#include "backends/cuda/batch/keyed_words.cuh"
#include "backends/cuda/runtime/dynamic_shared.cuh"

namespace fanin::cuda {

/// Sums in device memory: for each word an integer for each group. `counts` is null, or has the elements of each
/// group.
struct table_rows {
  unsigned long long *words, *counts;
  std::uint32_t groups;
};

/// The elements whose sums a table holds at once.
inline constexpr int most_elements_log2 = 20;

/// Group g's sum, which has `count` words: rows of an integer for each of `groups` groups.
inline __device__ detail::int128 sum_of_words(const unsigned long long* words, std::uint32_t groups, int count,
                                              std::uint64_t g) {
  detail::int128 sum = 0;
#pragma unroll
  for (int w = count; w-- > 0;) {
    sum = static_cast<detail::int128>(static_cast<detail::uint128>(sum) << 32) +
          static_cast<std::int64_t>(words[std::uint64_t{groups} * static_cast<unsigned>(w) + g]);
  }
  return sum;
}

/// Word w of a sum, least significant first.
template <class Sum>
__device__ unsigned word_of(const Sum& sum, int w) {
  return static_cast<unsigned>(sum >> (32 * w));
}

/// The block's table: a word after the other, each of all copies of all groups.
template <class Sum, int words>
class block_table {
 public:
  __device__ block_table(std::uint32_t groups, int copies_log2, bool counted)
      : word_(dynamic_shared<unsigned>()),
        entries_(groups << copies_log2),
        copies_log2_(copies_log2),
        rows_(words + (counted ? 1 : 0)) {
    for (unsigned i = threadIdx.x; i < entries_ * rows_; i += blockDim.x) word_[i] = 0;
    __syncthreads();
  }

  /// Adds a sum of `count` elements to each of `Count` groups. The first words of all are added before the second
  /// ones, so that they do not wait for each other's carries.
  template <int Count>
  __device__ void add(const std::uint32_t (&group)[Count], const Sum (&x)[Count], unsigned count) {
    const unsigned copy = threadIdx.x & ((1u << copies_log2_) - 1);
    unsigned carry[Count] = {};
#pragma unroll
    for (int w = 0; w < words; ++w) {
      unsigned added[Count], old[Count];
#pragma unroll
      for (int j = 0; j < Count; ++j) {
        added[j] = word_of(x[j], w) + carry[j];
        if (group[j] == no_group) continue;
        unsigned* const place = word_ + w * entries_ + (group[j] << copies_log2_) + copy;
        if (w + 1 < words) {
          old[j] = atomicAdd(place, added[j]);
        } else if (added[j] != 0) {
          atomicAdd(place, added[j]);
        }
      }
#pragma unroll
      for (int j = 0; j < Count && w + 1 < words; ++j) {
        carry[j] = static_cast<unsigned>(added[j] < carry[j]) | static_cast<unsigned>(old[j] + added[j] < added[j]);
      }
    }
    if (rows_ == words) return;
#pragma unroll
    for (int j = 0; j < Count; ++j) {
      if (group[j] != no_group) atomicAdd(word_ + words * entries_ + (group[j] << copies_log2_) + copy, count);
    }
  }

  /// Adds the table's first `groups` groups to those from `first` on, and clears them. All threads call it.
  __device__ void flush(const table_rows& to, std::uint32_t first, std::uint32_t groups) {
    __syncthreads();
    const unsigned copies = 1u << copies_log2_;
    for (unsigned g = threadIdx.x; g < groups; g += blockDim.x) {
      for (int w = 0; w < rows_; ++w) {
        std::int64_t total = 0;
        for (unsigned c = 0; c < copies; ++c) {
          unsigned& word = word_[w * entries_ + (g << copies_log2_) + ((c + threadIdx.x) & (copies - 1))];
          total += w == words - 1 ? std::int64_t{static_cast<int>(word)} : std::int64_t{word};
          word = 0;
        }
        unsigned long long* const sums = w < words ? to.words + std::uint64_t{to.groups} * w : to.counts;
        if (total != 0) atomicAdd(sums + first + g, static_cast<unsigned long long>(total));
      }
    }
    __syncthreads();
  }

 private:
  unsigned* const word_;
  const unsigned entries_;
  const int copies_log2_, rows_;
};

}  // namespace fanin::cuda
