// SPDX-License-Identifier: Apache-2.0
// Exact sums of products. The product of two floats is exact in double. The product of two doubles is the sum of the
// rounded product and its rounding error, a double too, which an FMA computes if the product is neither too large nor
// too small. add_exact() sums these doubles.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/products.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "backends/cpu/exact.hpp"
#include "backends/cpu/products.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#undef FANIN_MUL_SUB_IS_FUSED
#if HWY_ARCH_X86 && !defined(HWY_DISABLE_BMI2_FMA)
#define FANIN_MUL_SUB_IS_FUSED (HWY_TARGET <= HWY_AVX2)
#else
#define FANIN_MUL_SUB_IS_FUSED (HWY_TARGET == HWY_NEON)
#endif

using doubles = hn::ScalableTag<double>;
using words = hn::ScalableTag<std::uint64_t>;
using double_format = detail::float_format<double>;

/// product[i] = x[i] y[i] for whole vectors of x[0..count). Returns the number of elements in these vectors, or 0 if
/// a product is not finite or all products are -0.
std::size_t split_f32(const float* x, const float* y, std::size_t count, double* product, double*) {
  const doubles d;
  const words w;
  const hn::Rebind<float, doubles> f;
  auto largest = hn::Zero(w);
  auto not_negative_zero = hn::Zero(w);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto p = hn::Mul(hn::PromoteTo(d, hn::LoadU(f, x + i)), hn::PromoteTo(d, hn::LoadU(f, y + i)));
    hn::StoreU(p, d, product + i);
    largest = hn::Max(largest, hn::BitCast(w, hn::Abs(p)));
    not_negative_zero = hn::Or(not_negative_zero, hn::Xor(hn::BitCast(w, p), hn::Set(w, double_format::sign)));
  }
  const bool finite = hn::GetLane(hn::MaxOfLanes(w, largest)) < double_format::infinity;
  return finite && !hn::AllTrue(w, hn::Eq(not_negative_zero, hn::Zero(w))) ? i : 0;
}

/// product[i] + error[i] = x[i] y[i] for whole vectors of x[0..count). Returns the number of elements in these
/// vectors, or 0 if a product is not finite, an error may not be exact, or all products are -0. The error is exact if
/// |x y| >= 2^-968: x and y are multiples of their last bits 2^a and 2^b, and |x y| < 2^(a + b + 106) unless x or y
/// is subnormal. So a + b >= -1074, and the error is a multiple of the smallest subnormal. If x is subnormal then a =
/// -1074 and |y| > 2^54, so that b > 0.
std::size_t split_f64(const double* x, const double* y, std::size_t count, double* product, double* error) {
#if FANIN_MUL_SUB_IS_FUSED
  constexpr double least_split = 0x1p-968;
  const doubles d;
  const words w;
  auto largest = hn::Zero(w);
  auto least = hn::Set(w, double_format::infinity);
  auto not_negative_zero = hn::Zero(w);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    const auto p = hn::Mul(a, b);
    hn::StoreU(p, d, product + i);
    hn::StoreU(hn::MulSub(a, b, p), d, error + i);
    const auto magnitude = hn::BitCast(w, hn::Abs(p));
    const auto zero = hn::Or(hn::Eq(a, hn::Zero(d)), hn::Eq(b, hn::Zero(d)));
    largest = hn::Max(largest, magnitude);
    least = hn::Min(least, hn::IfThenElse(hn::RebindMask(w, zero), least, magnitude));
    not_negative_zero = hn::Or(not_negative_zero, hn::Xor(hn::BitCast(w, p), hn::Set(w, double_format::sign)));
  }
  const bool finite = hn::GetLane(hn::MaxOfLanes(w, largest)) < double_format::infinity;
  const bool errors_are_exact = hn::GetLane(hn::MinOfLanes(w, least)) >= detail::to_bits(least_split);
  return finite && errors_are_exact && !hn::AllTrue(w, hn::Eq(not_negative_zero, hn::Zero(w))) ? i : 0;
#else
  static_cast<void>(x), static_cast<void>(y), static_cast<void>(count);
  static_cast<void>(product), static_cast<void>(error);
  return 0;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(split_f32);
HWY_EXPORT(split_f64);

std::size_t split(const float* x, const float* y, std::size_t count, double* product, double* error) {
  return HWY_DYNAMIC_DISPATCH(split_f32)(x, y, count, product, error);
}
std::size_t split(const double* x, const double* y, std::size_t count, double* product, double* error) {
  return HWY_DYNAMIC_DISPATCH(split_f64)(x, y, count, product, error);
}

/// Adds x[i] y[i] for all i < count to `into`. add_one(i) does that for one i, where the products cannot be split.
template <class T, class Accumulator, class AddOne>
void add_all(const T* x, const T* y, std::size_t count, Accumulator& into, AddOne add_one) {
  constexpr std::size_t shortest = 128;  // fewer are added sooner one by one
  constexpr std::size_t block = 1024;    // its terms stay in the L1 cache
  double product[block], error[block];
  exact_accumulator<double> terms;
  bool has_split = false;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t length = std::min(block, count - begin);
    const std::size_t split_count = length < shortest ? 0 : split(x + begin, y + begin, length, product, error);
    if (split_count > 0) {
      has_split = true;
      add_exact(product, split_count, terms);
      if constexpr (sizeof(T) == 8) add_exact(error, split_count, terms);
    }
    for (std::size_t i = begin + split_count; i < begin + length; ++i) add_one(i);
  }
  if (has_split) into.add_sum(terms.total());
}

}  // namespace

template <class T>
void add_squares(const T* x, std::size_t count, exact_square_accumulator<T>& into) {
  into.add_elements(count, [&](auto& sum) { add_all(x, x, count, sum, [&](std::size_t i) { sum.add(x[i]); }); });
}
template <class T>
void add_products(const T* x, const T* y, std::size_t count, exact_dot_accumulator<T>& into) {
  add_all(x, y, count, into, [&](std::size_t i) { into.add(x[i], y[i]); });
}

template void add_squares(const float*, std::size_t, exact_square_accumulator<float>&);
template void add_squares(const double*, std::size_t, exact_square_accumulator<double>&);
template void add_products(const float*, const float*, std::size_t, exact_dot_accumulator<float>&);
template void add_products(const double*, const double*, std::size_t, exact_dot_accumulator<double>&);

}  // namespace fanin::cpu
#endif
