// SPDX-License-Identifier: Apache-2.0
// Sums in doubles whose additions do not round, which the inexact flag of the processor proves on every instruction
// set. An element of f32 has 24 of the 53 digits of a double. An element of f64 is cut into its upper 27 digits,
// which are its bits without the last 26, and the rest, which a subtraction finds without rounding. Both have a sum.
// So sums have 26 digits and more for the distance of the elements' exponents and for the growth of the sums. If no
// operation of a tile has set the flag, all sums are exact. Infinities and NaN leave a sum that is not finite.
//
// Highway includes this file once for each instruction set.
#if defined(FANIN_UNROUNDED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_UNROUNDED_INL_H_
#undef FANIN_UNROUNDED_INL_H_
#else
#define FANIN_UNROUNDED_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/bounded-inl.h"
#include "backends/cpu/exception_flags.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// The number of parts of an element.
template <class T>
constexpr int unrounded_parts = sizeof(T) == 4 ? 1 : 2;

/// Sums of Ts, or of their magnitudes: one vector of doubles for each part of an element.
template <class T, bool Magnitudes>
class unrounded_sum {
 public:
  static constexpr int parts = unrounded_parts<T>;
  using doubles = hn::ScalableTag<double>;

  HWY_INLINE void reset() {
    for (auto& part : part_) part = hn::Zero(doubles());
  }
  /// `one` is 1. Processors that convert floats and add doubles by the same units multiply by others, so that sums of
  /// f32 multiply by 1 as they add.
  HWY_INLINE void add(hn::Vec<doubles> v, [[maybe_unused]] hn::Vec<doubles> one) {
    const doubles d;
    if constexpr (Magnitudes) v = hn::Abs(v);
    if constexpr (parts == 1 && HWY_NATIVE_FMA) {
      part_[0] = hn::MulAdd(v, one, part_[0]);
    } else if constexpr (parts == 1) {
      part_[0] = hn::Add(part_[0], v);
    } else {
      const auto upper = hn::And(v, hn::BitCast(d, hn::Set(hn::RebindToUnsigned<doubles>(), upper_digits)));
      part_[0] = hn::Add(part_[0], upper);
      part_[1] = hn::Add(part_[1], hn::Sub(v, upper));
    }
  }
  HWY_INLINE void merge(const unrounded_sum& other) {
    for (int i = 0; i < parts; ++i) part_[i] = hn::Add(part_[i], other.part_[i]);
  }
  HWY_INLINE void store(double* total) const {
    for (int i = 0; i < parts; ++i) total[i] = hn::GetLane(hn::SumOfLanes(doubles(), part_[i]));
  }

 private:
  static constexpr std::uint64_t upper_digits = ~std::uint64_t{0} << 26;
  hn::Vec<doubles> part_[parts];
};

/// The first `count` elements of a vector as doubles, and zeros.
template <class D>
HWY_INLINE hn::Vec<D> load_with_zeros(D d, const double* x, std::size_t count) {
  return load_part(d, x, 0, count, 0.0);
}
template <class D>
HWY_INLINE hn::Vec<D> load_with_zeros(D d, const float* x, std::size_t count) {
  return hn::PromoteTo(d, load_part(hn::Rebind<float, D>(), x, 0, count, 0.0f));
}

/// Whether the exponents of the first elements of x[0..count) are so close that sum_unrounded() may add them without
/// rounding. If they are not, sum_unrounded() would nearly always fail.
template <class T>
HWY_INLINE bool may_be_unrounded(const T* x, std::size_t count) {
  const hn::ScalableTag<T> d;
  exponent_range<T> exponents;
  for (std::size_t i = 0; i < 4 * hn::Lanes(d) && i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    exponents.add(hn::LoadU(d, x + i));
  }
  return exponents.is_finite() && exponents.end() - exponents.unit() <= (sizeof(T) == 4 ? 53 : 26 + 53);
}

/// Writes the sums of the parts of x[0..count), or of the magnitudes. Returns whether they are exact. `prefetches`
/// says whether the elements, or those behind them, may come from memory.
template <bool Magnitudes, class T>
HWY_NOINLINE bool sum_unrounded(const T* x, std::size_t count, bool prefetches, exception_flags& flags,
                                double* total) {
  if (!sets_inexact() || !may_be_unrounded(x, count)) return false;
  using sum = unrounded_sum<T, Magnitudes>;
  constexpr std::size_t chains = 8 / sum::parts;
  const hn::ScalableTag<double> d;
  const std::size_t width = hn::Lanes(d), step = chains * width;
  const volatile double unknown_one = 1;  // Compilers replace multiplications by a 1 that they know.
  const auto one = hn::Set(d, unknown_one);
  sum chain[chains];
  HWY_UNROLL(8)
  for (std::size_t k = 0; k < chains; ++k) chain[k].reset();
  flags.clear_inexact();
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    for (std::size_t k = 0; prefetches && k < step; k += 64 / sizeof(T)) prefetch_line(x + i + k);
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < chains; ++k) chain[k].add(load(d, x + i + k * width), one);
  }
  for (; i + width <= count; i += width) chain[0].add(load(d, x + i), one);
  if (i < count) chain[1].add(load_with_zeros(d, x + i, count - i), one);
  HWY_UNROLL(8)
  for (std::size_t k = 1; k < chains; ++k) chain[0].merge(chain[k]);
  chain[0].store(total);
  asm volatile("" : : "r"(total) : "memory");  // The flag is read after the last addition.
  bool finite = true;
  for (int i = 0; i < sum::parts; ++i) finite = finite && std::isfinite(total[i]);
  return finite && !flags.has_inexact();
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
