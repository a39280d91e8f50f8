// SPDX-License-Identifier: Apache-2.0
// Elements of groups as words, with their keys. A thread loads four neighbours at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backends/cuda/batch/elements.hpp"

namespace fanin::cuda {

/// Stands for the group of an element that is in none.
inline constexpr std::uint32_t no_group = ~std::uint32_t{0};

template <class E>
struct four {
  E at[4];
};
/// The elements i, ..., i + 3, as far as they are below `count`. i is a multiple of 4.
template <class E>
__device__ four<E> load_four(const E* x, std::uint64_t i, std::uint64_t count, bool aligned) {
  four<E> loaded;
  if (aligned && i + 4 <= count) {
    using half = std::conditional_t<sizeof loaded == 4, unsigned, uint2>;
    using word = std::conditional_t<sizeof loaded <= 8, half, uint4>;
    word words[sizeof loaded / sizeof(word)];
    const auto* const from = reinterpret_cast<const word*>(x + i);
#pragma unroll
    for (unsigned w = 0; w < sizeof loaded / sizeof(word); ++w) words[w] = __ldcs(from + w);
    std::memcpy(&loaded, words, sizeof loaded);
  } else {
#pragma unroll
    for (int j = 0; j < 4; ++j) loaded.at[j] = i + j < count ? x[i + j] : E{};
  }
  return loaded;
}

/// Notes an element whose key is of no group.
static __device__ __noinline__ void note_outside(bool drops_others, std::uint64_t i, batch_status* status) {
  if (drops_others) {
    atomicAdd(&status->absent, 1ull);
  } else {
    atomicMax(&status->bad_index, ~static_cast<unsigned long long>(i));
  }
}
/// Elements, and their keys, which are unsigned integers of 4 or 8 bytes. `aligned`: both arrays are, to 16 bytes.
struct keyed_words {
  const void *keys, *words;
  std::uint64_t count;
  unsigned key_bytes, word_bytes;
  bool aligned, drops_others;
  std::uint32_t groups;
  batch_status* status;  ///< null if keys of no group are noted already
};

/// The elements and keys of groups of device memory. Keys of no group are noted in the status.
inline keyed_words words_of(const batch& groups, batch_status* status) {
  const auto is_aligned = [](const void* x) { return reinterpret_cast<std::uintptr_t>(x) % 16 == 0; };
  const array_view &keys = groups.index, &x = groups.inputs[0];
  return {keys.data,
          x.data,
          x.count,
          static_cast<unsigned>(byte_size(keys.type)),
          static_cast<unsigned>(byte_size(x.type)),
          is_aligned(keys.data) && is_aligned(x.data),
          groups.drops_others,
          static_cast<std::uint32_t>(groups.result_count),
          status};
}

/// Calls f(Word()) with the unsigned integer of so many bytes, which is one of Words.
template <class... Words, class F>
__device__ void with_word(unsigned bytes, const F& f) {
  (((sizeof...(Words) == 1 || sizeof(Words) == bytes) ? f(Words()) : void()), ...);
}

/// Four words of one of the types Words.
template <class... Words>
class four_words {
 public:
  __device__ void load(const void* words, unsigned bytes, std::uint64_t i, const keyed_words& from) {
    with_word<Words...>(bytes, [&]<class Word>(Word) {
      const four<Word> loaded = load_four(static_cast<const Word*>(words), i, from.count, from.aligned);
      std::memcpy(words_, &loaded, sizeof loaded);
    });
  }
  template <class Word>
  __device__ void copy_to(Word (&to)[4]) const {
    std::memcpy(to, words_, sizeof to);
  }

 private:
  std::uint32_t words_[std::max({sizeof(Words)...})];
};

/// The keys of four elements, which have one of the types Keys.
template <class... Keys>
struct four_keys : four_words<Keys...> {
  __device__ void load(std::uint64_t i, const keyed_words& from) {
    four_words<Keys...>::load(from.keys, from.key_bytes, i, from);
  }
  /// The groups of the keys.
  __device__ void find_groups(const keyed_words& from, std::uint32_t (&group)[4]) const {
    with_word<Keys...>(from.key_bytes, [&]<class Key>(Key) {
      Key key[4];
      this->copy_to(key);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        group[j] = key[j] < from.groups ? static_cast<std::uint32_t>(key[j]) : no_group;
      }
    });
  }
};
/// Leaves out those of the elements i, ..., i + 3 that do not exist.
__device__ inline void leave_out_missing(std::uint32_t (&group)[4], std::uint64_t i, std::uint64_t count) {
  if (i + 4 <= count) return;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (i + j >= count) group[j] = no_group;
  }
}
/// Notes those of the elements i, ..., i + 3 whose keys are of no group.
__device__ inline void note_outside(const std::uint32_t (&group)[4], std::uint64_t i, const keyed_words& from) {
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (group[j] == no_group && i + j < from.count) note_outside(from.drops_others, i + j, from.status);
  }
}

}  // namespace fanin::cuda
