// SPDX-License-Identifier: Apache-2.0
// Leaves for the smallest and the largest element.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/unordered.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/extremum.hpp>

#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
/// `so_far` without the elements that are NaN in a or b. One comparison serves two vectors, since comparisons begin
/// as rarely as maxima do.
template <class D, class V, class M = hn::Mask<D>>
HWY_INLINE M still_ordered(D, M so_far, V a, V b) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return M{_mm512_mask_cmp_ps_mask(so_far.raw, a.raw, b.raw, _CMP_ORD_Q)};
  } else {
    return M{_mm512_mask_cmp_pd_mask(so_far.raw, a.raw, b.raw, _CMP_ORD_Q)};
  }
#elif HWY_TARGET == HWY_AVX2
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    return M{_mm256_and_ps(so_far.raw, _mm256_cmp_ps(a.raw, b.raw, _CMP_ORD_Q))};
  } else {
    return M{_mm256_and_pd(so_far.raw, _mm256_cmp_pd(a.raw, b.raw, _CMP_ORD_Q))};
  }
#else
  return hn::And(so_far, hn::And(hn::Eq(a, a), hn::Eq(b, b)));
#endif
}

/// The extremum of all vectors added, apart from NaN and the signs of zeros, and whether there was a NaN: the vector
/// instruction may drop NaN, and may take a zero of either sign.
template <bool Largest, class T>
struct vector_extremum {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  V best;
  hn::Mask<D> ordered;

  HWY_INLINE explicit vector_extremum(V first) : best(first), ordered(hn::Eq(hn::Zero(D()), hn::Zero(D()))) {}

  template <class W>
  static HWY_INLINE W of_two(W a, W b) {
    if constexpr (Largest) {
      return hn::Max(a, b);
    } else {
      return hn::Min(a, b);
    }
  }
  HWY_INLINE void add(V a, V b) {
    if constexpr (std::is_floating_point_v<T>) ordered = still_ordered(D(), ordered, a, b);
    best = of_two(best, of_two(a, b));
  }
  HWY_INLINE void merge(const vector_extremum& other) {
    if constexpr (std::is_floating_point_v<T>) ordered = hn::And(ordered, other.ordered);
    best = of_two(best, other.best);
  }
  HWY_INLINE T value() const {
    if constexpr (std::is_floating_point_v<T>) {
      if (!hn::AllTrue(D(), ordered)) return std::numeric_limits<T>::quiet_NaN();
    }
    if constexpr (sizeof(T) >= 4) {
      return hn::GetLane(Largest ? hn::MaxOfLanes(D(), best) : hn::MinOfLanes(D(), best));
    } else {
      return extremum_of(D(), best);
    }
  }

 private:
  /// The extremum of elements of 8 or 16 bits: each half of the vector with the other half, down to one element.
  template <class DV>
  static HWY_INLINE T extremum_of(DV d, hn::Vec<DV> v) {
    if constexpr (hn::MaxLanes(DV()) * sizeof(T) > 16) {
      const hn::Half<DV> half;
      return extremum_of(half, of_two(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    } else {
      v = of_two(v, hn::ShiftRightBytes<8>(d, v));
      v = of_two(v, hn::ShiftRightBytes<4>(d, v));
      v = of_two(v, hn::ShiftRightBytes<2>(d, v));
      if constexpr (sizeof(T) == 1) v = of_two(v, hn::ShiftRightBytes<1>(d, v));
      return hn::GetLane(v);
    }
  }
};

/// The extremum of count > 0 elements, but a zero of any sign. Elements are read twice where that saves a loop over
/// parts of a vector.
template <bool Prefetches, bool Largest, class T>
HWY_INLINE T extremum_but_sign(const T* x, std::size_t count) {
  using state = vector_extremum<Largest, T>;
  const typename state::D d;
  constexpr std::size_t width = hn::MaxLanes(d), unroll = 4, step = 2 * unroll * width;
  const bool short_input = count < width;
  const auto first = short_input ? load_part(d, x, 0, count, x[0]) : hn::LoadU(d, x);
  const auto last = short_input ? first : hn::LoadU(d, x + count - width);
  state part[unroll] = {state(first), state(first), state(first), state(first)};
  part[0].add(first, last);
  std::size_t i = input<T, 1>{x}.unaligned();
  for (; i + step <= count; i += step) {
    if constexpr (Prefetches) {
      for (std::size_t b = 0; b < step * sizeof(T); b += 64) {
        prefetch_line(reinterpret_cast<const char*>(x + i) + b);
      }
    }
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < unroll; ++v) {
      part[v].add(hn::LoadU(d, x + i + 2 * v * width), hn::LoadU(d, x + i + (2 * v + 1) * width));
    }
  }
  for (; i + width <= count; i += width) {
    const auto v = hn::LoadU(d, x + i);
    part[1].add(v, v);
  }
  for (std::size_t v = 1; v < unroll; ++v) part[0].merge(part[v]);
  return part[0].value();
}

/// The largest zero is +0, the smallest is -0.
template <bool Largest, class T>
HWY_INLINE T extremum_of_zeros(const T* x, std::size_t count) {
  using bits = hwy::MakeUnsigned<T>;
  constexpr T preferred = Largest ? T{0} : -T{0};
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= std::bit_cast<bits>(x[i]) == std::bit_cast<bits>(preferred);
  return found ? preferred : -preferred;
}

template <bool Prefetches, bool Largest, class T>
HWY_INLINE T extremum_of_blocks(const T* x, std::size_t count) {
  constexpr std::size_t block = (std::size_t{1} << 18) / sizeof(T);  // the pass for zeros finds it in a cache
  T result = x[0];
  for (std::size_t i = 0; i < count; i += block) {
    const std::size_t n = std::min(block, count - i);
    T best = extremum_but_sign<Prefetches, Largest>(x + i, n);
    if constexpr (std::is_floating_point_v<T>) {
      if (best == 0) best = extremum_of_zeros<Largest>(x + i, n);
    }
    accumulator::extremum<T, Largest>::merge(result, best);
  }
  return result;
}

template <bool Largest, class T>
HWY_NOINLINE T extremum_of(const T* x, std::size_t count, bool prefetches) {
  return prefetches ? extremum_of_blocks<true, Largest>(x, count) : extremum_of_blocks<false, Largest>(x, count);
}

#define FANIN_EXTREMA(SUFFIX, T)                                                                         \
  T smallest_##SUFFIX(const T* x, std::size_t n, bool ahead) { return extremum_of<false>(x, n, ahead); } \
  T largest_##SUFFIX(const T* x, std::size_t n, bool ahead) { return extremum_of<true>(x, n, ahead); }
FANIN_FOR_EACH_COMPUTABLE(FANIN_EXTREMA)
#undef FANIN_EXTREMA

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH(SUFFIX, T)                                         \
  HWY_EXPORT(smallest_##SUFFIX);                                          \
  HWY_EXPORT(largest_##SUFFIX);                                           \
  template <>                                                             \
  T smallest_leaf<T>(const T* x, std::size_t count, bool prefetches) {    \
    return HWY_DYNAMIC_DISPATCH(smallest_##SUFFIX)(x, count, prefetches); \
  }                                                                       \
  template <>                                                             \
  T largest_leaf<T>(const T* x, std::size_t count, bool prefetches) {     \
    return HWY_DYNAMIC_DISPATCH(largest_##SUFFIX)(x, count, prefetches);  \
  }
FANIN_FOR_EACH_COMPUTABLE(FANIN_DISPATCH)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
