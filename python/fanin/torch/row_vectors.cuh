// SPDX-License-Identifier: Apache-2.0
// Vectors of eight elements of rows, which kernels read and write as f32.
#pragma once

#include <cstdint>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backends/c/convert.hpp"

namespace {

inline constexpr unsigned size = 8;
struct alignas(16) numbers {
  float at[size];
};

/// A vector of elements of type T, whose words of 16 bytes are word(i, number of words).
template <class T, class Word>
__device__ numbers load_as(const Word& word) {
  struct alignas(sizeof(T) == 2 ? 16 : 32) {
    T at[size];
  } some;
  constexpr unsigned words = sizeof some / sizeof(uint4);
  uint4 loaded[words];
  for (unsigned i = 0; i < words; ++i) loaded[i] = word(i, words);
  std::memcpy(&some, loaded, sizeof some);
  numbers to;
  for (unsigned i = 0; i < size; ++i) to.at[i] = static_cast<float>(some.at[i]);
  return to;
}
template <class Word>
__device__ numbers load_by(std::int32_t type, const Word& word) {
  if (type == FANIN_BF16) return load_as<__nv_bfloat16>(word);
  if (type == FANIN_F16) return load_as<__half>(word);
  return load_as<float>(word);
}
__device__ numbers load(const void* from, std::int32_t type, std::uint64_t vector) {
  return load_by(
      type, [&](unsigned i, unsigned words) { return __ldg(static_cast<const uint4*>(from) + vector * words + i); });
}

__device__ void store(float* to, std::uint64_t vector, const numbers& x) {
  float4 both[2];
  std::memcpy(both, &x, sizeof x);
  float4* const place = reinterpret_cast<float4*>(to) + 2 * vector;
  place[0] = both[0], place[1] = both[1];
}
template <class T>
__device__ void store_rounded(void* to, std::uint64_t vector, const numbers& x) {
  T some[size];
  for (unsigned i = 0; i < size; ++i) some[i] = static_cast<T>(x.at[i]);
  uint4 word;
  std::memcpy(&word, some, sizeof word);
  static_cast<uint4*>(to)[vector] = word;
}
__device__ void store(void* to, std::int32_t type, std::uint64_t vector, const numbers& x) {
  if (type == FANIN_BF16) return store_rounded<__nv_bfloat16>(to, vector, x);
  if (type == FANIN_F16) return store_rounded<__half>(to, vector, x);
  store(static_cast<float*>(to), vector, x);
}

template <class F>
__device__ void for_each(const F& f) {
#pragma unroll
  for (unsigned i = 0; i < size; ++i) f(i);
}

}  // namespace
