// SPDX-License-Identifier: Apache-2.0
// Leaves that compare elements with one value, and sums of integers of 8 and 16 bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/compared.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void prefetch_vectors(const T* x, std::size_t count) {
  for (std::size_t b = 0; b < count * sizeof(T); b += 64) prefetch_line(reinterpret_cast<const char*>(x) + b);
}

template <bool Prefetches, class T>
HWY_INLINE std::size_t zeros_among(const T* x, std::size_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t width = hn::MaxLanes(d), unroll = 4, step = unroll * width;
  const auto zeros_at = [&](const T* at) { return hn::CountTrue(d, hn::Eq(hn::LoadU(d, at), hn::Zero(d))); };
  std::size_t part[unroll] = {};
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    if constexpr (Prefetches) prefetch_vectors(x + i, step);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < unroll; ++v) part[v] += zeros_at(x + i + v * width);
  }
  std::size_t zeros = part[0] + part[1] + part[2] + part[3];
  for (; i + width <= count; i += width) zeros += zeros_at(x + i);
  for (; i < count; ++i) zeros += x[i] == T{0} ? 1 : 0;
  return zeros;
}
template <class T>
std::size_t zeros_of(const T* x, std::size_t count, bool prefetches) {
  return prefetches ? zeros_among<true>(x, count) : zeros_among<false>(x, count);
}

template <class T>
std::size_t place_of(const T* x, std::size_t count, T value) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  constexpr std::size_t width = hn::MaxLanes(d);
  using word = hn::TFromD<decltype(bits)>;
  const auto wanted = hn::Set(bits, std::bit_cast<word>(value));
  const bool is_nan = value != value;
  std::size_t i = 0;
  for (; i + width <= count; i += width) {
    const auto v = hn::LoadU(d, x + i);
    const std::intptr_t at = is_nan ? hn::FindFirstTrue(d, hn::Not(hn::Eq(v, v)))
                                    : hn::FindFirstTrue(bits, hn::Eq(hn::BitCast(bits, v), wanted));
    if (at >= 0) return i + static_cast<std::size_t>(at);
  }
  const auto is_it = [&](T v) { return is_nan ? v != v : std::bit_cast<word>(v) == std::bit_cast<word>(value); };
  while (i + 1 < count && !is_it(x[i])) ++i;
  return i;
}

#define FANIN_COMPARED(SUFFIX, T)                                                                     \
  std::size_t zeros_##SUFFIX(const T* x, std::size_t n, bool ahead) { return zeros_of(x, n, ahead); } \
  std::size_t place_##SUFFIX(const T* x, std::size_t n, T value) { return place_of(x, n, value); }
FANIN_FOR_EACH_COMPUTABLE(FANIN_COMPARED)
#undef FANIN_COMPARED

/// The sums of the bytes of each word of 64 bits.
template <class D>
HWY_INLINE hn::Vec<hn::Repartition<std::uint64_t, D>> word_sums(D d, hn::Vec<D> v) {
  const hn::Repartition<std::uint8_t, D> bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    static_cast<void>(d);
    return hn::SumsOf8(v);
  } else {  // 256 times the high bytes, which are alone in v >> 8, and the low bytes
    const auto low = hn::SumsOf8(hn::BitCast(bytes, hn::And(v, hn::Set(d, 0xff))));
    const auto high = hn::SumsOf8(hn::BitCast(bytes, hn::ShiftRight<8>(v)));
    return hn::Add(low, hn::ShiftLeft<8>(high));
  }
}

template <bool Prefetches, class T>
HWY_INLINE std::uint64_t sum_flipped(const T* x, std::size_t count, T flip) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<std::uint64_t, decltype(d)> words;
  constexpr std::size_t width = hn::MaxLanes(d), step = 4 * width;
  const auto flips = hn::Set(d, flip);
  const auto sums_at = [&](const T* at) { return word_sums(d, hn::Xor(hn::LoadU(d, at), flips)); };
  auto even = hn::Zero(words), odd = hn::Zero(words);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    if constexpr (Prefetches) prefetch_vectors(x + i, step);
    even = hn::Add(even, hn::Add(sums_at(x + i), sums_at(x + i + 2 * width)));
    odd = hn::Add(odd, hn::Add(sums_at(x + i + width), sums_at(x + i + 3 * width)));
  }
  for (; i + width <= count; i += width) even = hn::Add(even, sums_at(x + i));
  std::uint64_t total = hn::GetLane(hn::SumOfLanes(words, hn::Add(even, odd)));
  for (; i < count; ++i) total += static_cast<T>(x[i] ^ flip);
  return total;
}

template <class T>
HWY_INLINE std::uint64_t unsigned_sum(const T* x, std::size_t count, T flip) {
  return count < least_prefetched_bytes / sizeof(T) ? sum_flipped<false>(x, count, flip)
                                                    : sum_flipped<true>(x, count, flip);
}

std::uint64_t narrow_sum_of(const void* x, std::size_t bytes_each, std::size_t count, bool flipped) {
  if (bytes_each == 1) {
    return unsigned_sum(static_cast<const std::uint8_t*>(x), count, static_cast<std::uint8_t>(flipped ? 0x80u : 0u));
  }
  return unsigned_sum(static_cast<const std::uint16_t*>(x), count,
                      static_cast<std::uint16_t>(flipped ? 0x8000u : 0u));
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(narrow_sum_of);
std::uint64_t narrow_sum(const void* x, std::size_t bytes_each, std::size_t count, bool flipped) {
  return HWY_DYNAMIC_DISPATCH(narrow_sum_of)(x, bytes_each, count, flipped);
}

#define FANIN_DISPATCH(SUFFIX, T)                                             \
  HWY_EXPORT(zeros_##SUFFIX);                                                 \
  HWY_EXPORT(place_##SUFFIX);                                                 \
  template <>                                                                 \
  std::size_t zeros_leaf<T>(const T* x, std::size_t count, bool prefetches) { \
    return HWY_DYNAMIC_DISPATCH(zeros_##SUFFIX)(x, count, prefetches);        \
  }                                                                           \
  template <>                                                                 \
  std::size_t find_leaf<T>(const T* x, std::size_t count, T value) {          \
    return HWY_DYNAMIC_DISPATCH(place_##SUFFIX)(x, count, value);             \
  }
FANIN_FOR_EACH_COMPUTABLE(FANIN_DISPATCH)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
