// SPDX-License-Identifier: Apache-2.0
// Exact sums of short arrays: a double, and for doubles a second one for the rounding errors of the first. They are
// used only if no addition has rounded that is not made good. The sums of longer arrays are those of unrounded-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/short_exact.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/row-inl.h"
#include "backends/cpu/unrounded-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// A sum of `Terms` doubles, and the sum of the magnitudes of the parts that these doubles do not hold. That is 0
/// if the sum is exact, else positive or NaN.
template <int Terms>
struct sum_of_doubles {
  static constexpr int planes = Terms + 1;
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    for (auto& plane : s.plane) plane = hn::Set(d, -0.0);
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D, S& s, V x) {
    for (int i = 0; i < Terms; ++i) x = two_sum(s.plane[i], x);
    s.plane[Terms] = hn::Add(s.plane[Terms], hn::Abs(x));
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    for (int i = 0; i < Terms; ++i) {
      auto x = other.plane[i];
      for (int k = i; k < Terms; ++k) x = two_sum(s.plane[k], x);
      s.plane[Terms] = hn::Add(s.plane[Terms], hn::Abs(x));
    }
    s.plane[Terms] = hn::Add(s.plane[Terms], other.plane[Terms]);
  }
};

/// The first vector of x[0..count), with -0 for the elements beyond it.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* x, std::size_t count) {
  if constexpr (std::is_same_v<T, double>) {
    return load_part(d, x, 0, count, -0.0);
  } else {
    return hn::PromoteTo(d, load_part(hn::Rebind<T, D>(), x, 0, count, -T{0}));
  }
}

template <class T>
using sum_of_rounded = sum_of_doubles<sizeof(T) == 8 ? 2 : 1>;

/// The sum of more elements is found sooner by additions that do not round.
constexpr std::size_t longest_in_planes = 128;

/// The planes of the sum of all elements.
template <class T>
HWY_INLINE std::array<double, sum_of_rounded<T>::planes> sum_planes(const T* x, std::size_t count) {
  using kernel = sum_of_rounded<T>;
  const hn::ScalableTag<double> d;
  constexpr std::size_t width = hn::MaxLanes(d);
  vector_states<hn::ScalableTag<double>, kernel::planes> all;
  kernel::reset(d, all);
  std::size_t i = 0;
  for (; i + width <= count; i += width) kernel::add(d, all, load(d, x + i));
  if (i < count) kernel::add(d, all, load_first(d, x + i, count - i));
  std::array<double, kernel::planes> total;
  collapse<kernel>(d, all, total.data());
  return total;
}

/// The sum of a tile by additions that do not round, or NaN. A zero may stand for elements that are all -0.
template <class T>
HWY_INLINE double sum_tile(const T* x, std::size_t count) {
  exception_flags flags;
  double total[unrounded_parts<T>];
  if (!sum_unrounded<false>(x, count, false, flags, total)) return std::numeric_limits<double>::quiet_NaN();
  double sum = total[0];
  if constexpr (unrounded_parts<T> == 2) sum += total[1];
  return sum != 0 ? sum : std::numeric_limits<double>::quiet_NaN();
}

template <class T>
HWY_INLINE double sum_if_exact(const T* x, std::size_t count) {
  if (count > longest_in_planes) return sum_tile(x, count);
  const auto total = sum_planes(x, count);
  if (total.back() != 0) return std::numeric_limits<double>::quiet_NaN();
  if constexpr (total.size() == 3) {
    if (total[1] != 0) return total[0] + total[1];  // A zero would change the sign of another one.
  }
  return total[0];
}

bool sum_in_two_doubles(const double* x, std::size_t count, double (&terms)[2]) {
  const auto total = sum_planes(x, count);
  if (total[2] != 0) return false;
  std::copy_n(total.data(), 2, terms);
  return true;
}

template <class T>
void sum_arrays(const operands* runs, const std::size_t* counts, std::size_t number, double* totals) {
  for (std::size_t i = 0; i < number; ++i) {
    totals[i] = counts[i] == 0 || counts[i] > proven_tile<T>
                    ? std::numeric_limits<double>::quiet_NaN()
                    : sum_if_exact(static_cast<const T*>(runs[i].x), counts[i]);
  }
}

void sum_arrays_f32(const operands* runs, const std::size_t* counts, std::size_t number, double* totals) {
  sum_arrays<float>(runs, counts, number, totals);
}
void sum_arrays_f64(const operands* runs, const std::size_t* counts, std::size_t number, double* totals) {
  sum_arrays<double>(runs, counts, number, totals);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

HWY_EXPORT(sum_arrays_f32);
HWY_EXPORT(sum_arrays_f64);
HWY_EXPORT(sum_in_two_doubles);
bool sum_in_two(const double* x, std::size_t count, double (&terms)[2]) {
  if (count == 1) {
    terms[0] = *x;
    terms[1] = 0;
    return std::isfinite(*x);
  }
  return HWY_DYNAMIC_DISPATCH(sum_in_two_doubles)(x, count, terms);
}
template <>
void sum_short_exactly<float>(const operands* runs, const std::size_t* counts, std::size_t number, double* totals) {
  HWY_DYNAMIC_DISPATCH(sum_arrays_f32)(runs, counts, number, totals);
}
template <>
void sum_short_exactly<double>(const operands* runs, const std::size_t* counts, std::size_t number, double* totals) {
  HWY_DYNAMIC_DISPATCH(sum_arrays_f64)(runs, counts, number, totals);
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
