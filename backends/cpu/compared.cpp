// SPDX-License-Identifier: Apache-2.0
// Leaves that compare elements with one value.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/compared.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
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

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

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
