// SPDX-License-Identifier: Apache-2.0
// Leaves whose result does not depend on the order of the elements: integer sums, smallest and largest element.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/unordered.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fanin/accumulator/extremum.hpp>

#include "backends/cpu/fold.hpp"
#include "backends/cpu/leaf.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

half_sums sum_halves(const void* words, std::size_t count, std::uint64_t flip) {
  const hn::ScalableTag<std::uint64_t> d;
  constexpr std::size_t width = hn::MaxLanes(d);
  const auto* x = static_cast<const std::uint8_t*>(words);
  const auto flips = hn::Set(d, flip);
  const auto low_bits = hn::Set(d, 0xffffffffu);
  auto low = hn::Zero(d);
  auto high = hn::Zero(d);
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  std::size_t i = 0;
  HWY_UNROLL(4)
  for (; i + width <= count; i += width) {
    const auto v = hn::Xor(hn::BitCast(d, hn::LoadU(bytes, x + 8 * i)), flips);
    low = hn::Add(low, hn::And(v, low_bits));
    high = hn::Add(high, hn::ShiftRight<32>(v));
  }
  half_sums total{hn::GetLane(hn::SumOfLanes(d, low)), hn::GetLane(hn::SumOfLanes(d, high))};
  for (; i < count; ++i) {
    std::uint64_t word;
    std::memcpy(&word, x + 8 * i, 8);
    word ^= flip;
    total.low += word & 0xffffffffu;
    total.high += word >> 32;
  }
  return total;
}

template <bool Largest, class V>
HWY_INLINE V min_or_max(V a, V b) {
  if constexpr (Largest) {
    return hn::Max(a, b);
  } else {
    return hn::Min(a, b);
  }
}

/// The vector maximum instruction may drop NaN and may return a zero of either sign, so the loop detects NaN itself,
/// and a result of zero takes its sign from a second pass.
template <bool Largest, class T>
HWY_INLINE T extremum_of_block(const T* x, std::size_t count) {
  using scalar_extremum = accumulator::extremum<T, Largest>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t width = hn::MaxLanes(d);
  constexpr std::size_t unroll = 4;
  T result = scalar_extremum::identity();
  V best[unroll];
  for (V& b : best) b = hn::Set(d, result);
  V nan = hn::Zero(d);
  std::size_t i = 0;
  for (; i + unroll * width <= count; i += unroll * width) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < unroll; ++v) {
      const V value = hn::LoadU(d, x + i + v * width);
      best[v] = min_or_max<Largest>(best[v], value);
      if constexpr (std::is_floating_point_v<T>) nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(value)));
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!hn::AllFalse(d, hn::IsNaN(nan))) return std::numeric_limits<T>::quiet_NaN();
  }
  HWY_ALIGN T lanes[width];
  hn::Store(min_or_max<Largest>(min_or_max<Largest>(best[0], best[1]), min_or_max<Largest>(best[2], best[3])), d,
            lanes);
  for (T lane : lanes) scalar_extremum::add(result, lane);
  for (std::size_t k = i; k < count; ++k) scalar_extremum::add(result, x[k]);
  if constexpr (std::is_floating_point_v<T>) {
    // The largest zero is +0, the smallest is -0.
    const bool has_preferred_zero = result == 0 && std::any_of(x, x + count, [](T value) {
                                      return value == 0 && std::signbit(value) != Largest;
                                    });
    if (result == 0) result = (has_preferred_zero == Largest) ? T{0} : -T{0};
  }
  return result;
}

template <bool Largest, class T>
T extremum_of(const T* x, std::size_t count) {
  constexpr std::size_t block = 65536 / sizeof(T);  // the second pass for zeros finds it in cache
  T result = x[0];
  for (std::size_t i = 0; i < count; i += block) {
    accumulator::extremum<T, Largest>::merge(result, extremum_of_block<Largest>(x + i, std::min(block, count - i)));
  }
  return result;
}

#define FANIN_EXTREMA(SUFFIX, T)                                                      \
  T smallest_##SUFFIX(const T* x, std::size_t n) { return extremum_of<false>(x, n); } \
  T largest_##SUFFIX(const T* x, std::size_t n) { return extremum_of<true>(x, n); }
FANIN_EXTREMA(f32, float)
FANIN_EXTREMA(f64, double)
FANIN_EXTREMA(i32, std::int32_t)
FANIN_EXTREMA(i64, std::int64_t)
FANIN_EXTREMA(u32, std::uint32_t)
FANIN_EXTREMA(u64, std::uint64_t)
#undef FANIN_EXTREMA

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(sum_halves);
half_sums sum_halves(const void* words, std::size_t count, std::uint64_t flip) {
  return HWY_DYNAMIC_DISPATCH(sum_halves)(words, count, flip);
}

#define FANIN_DISPATCH(SUFFIX, T)                             \
  HWY_EXPORT(smallest_##SUFFIX);                              \
  HWY_EXPORT(largest_##SUFFIX);                               \
  template <>                                                 \
  T smallest_leaf<T>(const T* x, std::size_t count) {         \
    return HWY_DYNAMIC_DISPATCH(smallest_##SUFFIX)(x, count); \
  }                                                           \
  template <>                                                 \
  T largest_leaf<T>(const T* x, std::size_t count) {          \
    return HWY_DYNAMIC_DISPATCH(largest_##SUFFIX)(x, count);  \
  }
FANIN_DISPATCH(f32, float)
FANIN_DISPATCH(f64, double)
FANIN_DISPATCH(i32, std::int32_t)
FANIN_DISPATCH(i64, std::int64_t)
FANIN_DISPATCH(u32, std::uint32_t)
FANIN_DISPATCH(u64, std::uint64_t)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
