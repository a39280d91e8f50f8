// SPDX-License-Identifier: Apache-2.0
// A table of sums in shared memory, which a block adds to the sums in device memory at the end. Few groups have
// several copies, so that the threads of a warp seldom meet in a word.
#pragma once

#include <nv/target>

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

/// Word w of a sum, least significant first. A number without a sign has zeros above its words.
template <class Sum>
__device__ unsigned word_of(const Sum& sum, int w) {
  constexpr int words = sizeof(Sum) / sizeof(unsigned);
  return w < words ? static_cast<unsigned>(sum >> (32 * (w < words ? w : 0))) : 0;
}

/// The block's table: a word after the other, each of all copies of all groups.
template <class Sum, int words>
class block_table {
 public:
  __device__ block_table(std::uint32_t groups, int copies_log2, bool counted)
      : word_(dynamic_shared<unsigned>()),
        entries_(groups << copies_log2),
        copies_log2_(copies_log2),
        rows_(words + (counted ? 1 : 0)),
        copy_(shared_address(word_ + (threadIdx.x & ((1u << copies_log2) - 1)))),
        idle_(shared_address(word_ + (threadIdx.x % 32 < entries_ ? threadIdx.x % 32 : 0))) {
    for (unsigned i = threadIdx.x; i < entries_ * rows_; i += blockDim.x) word_[i] = 0;
    __syncthreads();
  }

  /// Adds a sum of `count` elements to each of `Count` groups. The sum of no_group has to be 0, since it is added to
  /// some group. The first words of all are added before the second ones, so that they do not wait for each other's
  /// carries.
  template <int Count>
  __device__ void add(const std::uint32_t (&group)[Count], const Sum (&x)[Count], unsigned count) {
    unsigned place[Count], carry[Count] = {};
#pragma unroll
    for (int j = 0; j < Count; ++j) {
      // A thread without a group adds 0 to a word that few others add to at the same time. So there is no branch.
      place[j] = group[j] == no_group ? idle_ : copy_ + (group[j] << copies_log2_) * sizeof(unsigned);
    }
#pragma unroll
    for (int w = 0; w < words; ++w) {
      unsigned added[Count], old[Count];
#pragma unroll
      for (int j = 0; j < Count; ++j) {
        added[j] = word_of(x[j], w) + carry[j];
        old[j] = add_to_word(place[j], added[j]);
        place[j] += entries_ * sizeof(unsigned);
      }
#pragma unroll
      for (int j = 0; j < Count && w + 1 < words; ++j) {
        carry[j] = static_cast<unsigned>(added[j] < carry[j]) | static_cast<unsigned>(old[j] + added[j] < added[j]);
      }
    }
    if (rows_ == words) return;
#pragma unroll
    for (int j = 0; j < Count; ++j) add_to_word(place[j], group[j] == no_group ? 0 : count);
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
  /// The address in shared memory of a word of the table, or on a CPU its offset. The compiler does not see how the
  /// address is formed, or it would form it again for each addition.
  __device__ unsigned shared_address(const unsigned* word) const {
    auto address = static_cast<unsigned>((word - word_) * sizeof(unsigned));
    NV_IF_TARGET(NV_IS_DEVICE, (address = static_cast<unsigned>(__cvta_generic_to_shared(word));))
    NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("" : "+r"(address));))
    return address;
  }
  /// Adds x to the word at an address in shared memory, and returns the word before.
  __device__ unsigned add_to_word(unsigned place, unsigned x) const {
    unsigned old = 0;
    NV_IF_ELSE_TARGET(NV_IS_DEVICE,
                      (asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                                    : "=r"(old)
                                    : "r"(place), "r"(x)
                                    : "memory");),
                      (old = atomicAdd(word_ + place / sizeof(unsigned), x);))
    return old;
  }

  unsigned* const word_;
  const unsigned entries_;
  const int copies_log2_, rows_;
  /// The addresses of the thread's copy of group 0, and of the word whose number is the thread's in its warp, or
  /// word 0 of a shorter table.
  const unsigned copy_, idle_;
};

}  // namespace fanin::cuda
