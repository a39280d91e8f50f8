// SPDX-License-Identifier: Apache-2.0
// Sums of numbers and of products in doubles that the exponents prove to be exact, on every instruction set.
//
// A rounded_sum begins at 1.5 * 2^B. Let each element of its vector add at most 2^L terms that are below 2^P and
// multiples of 2^U. If P + L < B the sum s stays in its binade. Then t = fl(s + v) and t - s are exact multiples of
// 2^(B-52), so that the error v - (t - s) is at most 2^(B-53), and a multiple of 2^U. A second sum adds the errors.
// It stays below 2^(B-53+L), and is exact if this is at most 2^(U+53).
//
// A product of floats is a term. A product of doubles is two terms, fl(x y) and its error, which is 2^-53 times as
// large. If x y is a multiple of 2^U then fl(x y) is one of 2^(U+52), and its error one of 2^U.
//
// Highway includes this file once for each instruction set.
#if defined(FANIN_BOUNDED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_BOUNDED_INL_H_
#undef FANIN_BOUNDED_INL_H_
#else
#define FANIN_BOUNDED_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/error_free-inl.h"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/proven.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The exponents of numbers. Magnitudes of floats are compared as integers. Few instruction sets compare integers of
/// 64 bits, and so doubles are compared as doubles, which may overlook NaN.
template <class T>
class exponent_range {
 public:
  using numbers = hn::ScalableTag<T>;

  HWY_INLINE exponent_range() : largest_(hn::Zero(compared())), least_(hn::Set(compared(), most)) {}
  HWY_INLINE void add(hn::Vec<numbers> v) {
    const auto magnitude = hn::BitCast(compared(), hn::Abs(v));
    largest_ = hn::Max(largest_, magnitude);
    if constexpr (is_long) {
      least_ = hn::Min(least_, hn::IfThenElse(hn::Eq(v, hn::Zero(numbers())), least_, magnitude));
    } else {
      least_ = hn::Min(least_, hn::Sub(magnitude, hn::Set(compared(), 1)));  // 0 wraps round to the largest value
    }
  }
  bool is_finite() const { return end() <= format::high; }
  /// All numbers are below 2^end() and multiples of 2^unit(), if none is infinite or NaN. The unit of zeros alone is
  /// that of the largest exponent.
  int end() const { return unit_of(hn::GetLane(hn::MaxOfLanes(compared(), largest_))) + format::digits; }
  int unit() const { return unit_of(hn::GetLane(hn::MinOfLanes(compared(), least_))); }

 private:
  using format = detail::float_format<T>;
  static constexpr bool is_long = sizeof(T) == 8;
  using compared = std::conditional_t<is_long, numbers, hn::RebindToUnsigned<numbers>>;
  using one = hn::TFromD<compared>;
  static constexpr one most = std::numeric_limits<one>::max();

  static int unit_of(one magnitude) {
    const auto biased = static_cast<int>(std::bit_cast<typename format::bits>(magnitude) >> (format::digits - 1));
    return std::clamp(biased, 1, 2 * format::high - 1) - 1 + format::low;
  }
  hn::Vec<compared> largest_, least_;
};

using double_vector = hn::Vec<hn::ScalableTag<double>>;

/// Sets `total` to the sum of the elements of all vectors. Returns whether it is exact.
template <std::size_t N>
HWY_INLINE bool add_up(double_vector (&parts)[N], double& total) {
  const hn::ScalableTag<double> d;
  auto lost = hn::Zero(d);
  for (std::size_t i = 1; i < N; ++i) lost = hn::Add(lost, hn::Abs(two_sum(parts[0], parts[i])));
  HWY_ALIGN double part[hn::MaxLanes(hn::ScalableTag<double>())];
  hn::Store(parts[0], d, part);
  bool exact = hn::AllTrue(d, hn::Eq(lost, hn::Zero(d)));
  total = part[0];
  for (std::size_t i = 1; i < hn::Lanes(d); ++i) {
    const double sum = total + part[i], added = sum - total;
    exact = exact && sum - added == total && added == part[i];
    total = sum;
  }
  return exact;
}

/// Sums of terms v, or of products of floats, and the sums of their errors: N vectors of each.
template <std::size_t N>
struct rounded_sums {
  double_vector first, sum[N], errors[N];
  HWY_INLINE explicit rounded_sums(int binade) : first(hn::Set(hn::ScalableTag<double>(), std::ldexp(1.5, binade))) {
    for (std::size_t i = 0; i < N; ++i) sum[i] = first, errors[i] = hn::Zero(hn::ScalableTag<double>());
  }
  HWY_INLINE void add(std::size_t i, double_vector v) {
    const auto t = hn::Add(sum[i], v);
    errors[i] = hn::Add(errors[i], hn::Sub(v, hn::Sub(t, sum[i])));
    sum[i] = t;
  }
  HWY_INLINE void add_product(std::size_t i, double_vector x, double_vector y) {
    const auto t = hn::MulAdd(x, y, sum[i]);
    errors[i] = hn::Add(errors[i], hn::MulSub(x, y, hn::Sub(t, sum[i])));
    sum[i] = t;
  }
  /// Writes two numbers, whose sum is that of all terms. Returns whether it is exact.
  HWY_INLINE bool add_up(double* total) {
    for (auto& s : sum) s = hn::Sub(s, first);
    return HWY_NAMESPACE::add_up(sum, total[0]) && HWY_NAMESPACE::add_up(errors, total[1]);
  }
};

/// Folds x[0..count), for products also y. Writes the sum of x for moments alone, as one number or for doubles two.
/// Writes the sum of the products as two numbers or for doubles four. Returns whether the sums are exact.
template <product_terms What, class T>
HWY_NOINLINE bool fold_bounded(const T* x, const T* y, std::size_t count, double* elements, double* products) {
  constexpr bool is_product = What == product_terms::products, has_elements = What == product_terms::moments,
                 is_long = sizeof(T) == 8;
  constexpr int spare = 4;  // Terms may be 2^spare times as large as the first ones.
  constexpr std::size_t vectors = is_long ? 2 : 4;
  const hn::ScalableTag<double> d;
  const hn::ScalableTag<T> numbers;
  const std::size_t width = hn::Lanes(d), step = vectors * width, sample = std::min<std::size_t>(count, 32);
  exponent_range<T> first_of_x, first_of_y, of_x, of_y;
  for (std::size_t i = 0; i + hn::Lanes(numbers) <= sample; i += hn::Lanes(numbers)) {
    first_of_x.add(hn::LoadU(numbers, x + i));
    first_of_y.add(hn::LoadU(numbers, y + i));
  }
  const int additions = static_cast<int>(std::bit_width((count + step - 1) / step)), room = additions + 1 + spare;
  const int binade = first_of_x.end() + first_of_y.end() + room, element_binade = first_of_x.end() + room;
  if (std::abs(binade) > 900) return false;
  rounded_sums<vectors> sums(binade), of_errors(binade - 53), of_elements(element_binade);
  double_vector plain[vectors];
  for (auto& p : plain) p = hn::Zero(d);
  const auto add = [&](const T* from_x, const T* from_y) HWY_ATTR {
    for (std::size_t k = 0; k < step; k += hn::Lanes(numbers)) {
      of_x.add(hn::LoadU(numbers, from_x + k));
      if constexpr (is_product) of_y.add(hn::LoadU(numbers, from_y + k));
    }
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < vectors; ++v) {
      const auto a = load(d, from_x + v * width), b = is_product ? load(d, from_y + v * width) : a;
      if constexpr (is_long) {
        const auto product = hn::Mul(a, b);
        sums.add(v, product);
        of_errors.add(v, hn::MulSub(a, b, product));
        if constexpr (has_elements) of_elements.add(v, a);
      } else {
        sums.add_product(v, a, b);
        if constexpr (has_elements) plain[v] = hn::Add(plain[v], a);
      }
    }
  };
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    prefetch_line(x + i);
    if constexpr (is_product) prefetch_line(y + i);
    add(x + i, y + i);
  }
  if (i < count) {
    T last_x[vectors * hn::MaxLanes(d)] = {}, last_y[vectors * hn::MaxLanes(d)] = {};
    std::copy(x + i, x + count, last_x);
    std::copy(y + i, y + count, last_y);
    add(last_x, last_y);
  }
  if constexpr (!is_product) of_y = of_x;
  // Sums with infinities and NaN are not exact, whatever the exponents are. The error of a product of doubles is
  // exact, because `unit` is at least -1074. What holds for the squares implies the same for the elements.
  const int end = of_x.end() + of_y.end(), unit = of_x.unit() + of_y.unit();
  if (end + additions >= binade || binade - 53 + additions > unit + (is_long ? 105 : 53)) return false;
  if constexpr (has_elements && is_long) {
    if (!of_elements.add_up(elements)) return false;
  } else if constexpr (has_elements) {
    if (!add_up(plain, *elements)) return false;
  }
  return sums.add_up(products) && (!is_long || of_errors.add_up(products + 2));
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
