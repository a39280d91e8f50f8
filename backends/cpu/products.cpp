// Exact sums of products. A product of floats is a double; one of doubles is a double and what rounding it lost,
// which an FMA finds, unless it is too large or too small. Sums of those doubles are what exact.cpp is quick at.
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

/// product[i] = x[i] y[i] for whole vectors of x[0..count). Returns how many elements these have; 0 if one is not
/// finite or all products are -0.
std::size_t split_f32(const float* x, const float* y, std::size_t count, double* product, double*) {
  const doubles d;
  const words w;
  const hn::Rebind<float, doubles> f;
  auto largest = hn::Zero(w);
  auto others = hn::Zero(w);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto p = hn::Mul(hn::PromoteTo(d, hn::LoadU(f, x + i)), hn::PromoteTo(d, hn::LoadU(f, y + i)));
    hn::StoreU(p, d, product + i);
    largest = hn::Max(largest, hn::BitCast(w, hn::Abs(p)));
    others = hn::Or(others, hn::Xor(hn::BitCast(w, p), hn::Set(w, double_format::sign)));
  }
  const bool finite = hn::GetLane(hn::MaxOfLanes(w, largest)) < double_format::infinity;
  return finite && !hn::AllTrue(w, hn::Eq(others, hn::Zero(w))) ? i : 0;
}

/// product[i] + error[i] = x[i] y[i] for whole vectors of x[0..count). Returns how many elements these have; 0 if one
/// of them has no such pair or all products are -0.
/// From 2^-968 on a product has one: x and y are multiples of their last bits 2^a and 2^b, and |x y| < 2^(a + b +
/// 106) unless x or y is subnormal. So a + b >= -1074, and the error is a multiple of the smallest subnormal. If x is
/// subnormal then a = -1074 and |y| > 2^54, so that b > 0.
std::size_t split_f64(const double* x, const double* y, std::size_t count, double* product, double* error) {
#if FANIN_MUL_SUB_IS_FUSED
  constexpr double smallest = 0x1p-968;
  const doubles d;
  const words w;
  auto largest = hn::Zero(w);
  auto least = hn::Set(w, double_format::infinity);
  auto others = hn::Zero(w);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    const auto p = hn::Mul(a, b);
    hn::StoreU(p, d, product + i);
    hn::StoreU(hn::MulSub(a, b, p), d, error + i);
    const auto size = hn::BitCast(w, hn::Abs(p));
    const auto zero = hn::Or(hn::Eq(a, hn::Zero(d)), hn::Eq(b, hn::Zero(d)));
    largest = hn::Max(largest, size);
    least = hn::Min(least, hn::IfThenElse(hn::RebindMask(w, zero), least, size));
    others = hn::Or(others, hn::Xor(hn::BitCast(w, p), hn::Set(w, double_format::sign)));
  }
  const bool finite = hn::GetLane(hn::MaxOfLanes(w, largest)) < double_format::infinity;
  const bool large = hn::GetLane(hn::MinOfLanes(w, least)) >= detail::to_bits(smallest);
  return finite && large && !hn::AllTrue(w, hn::Eq(others, hn::Zero(w))) ? i : 0;
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

/// add_one(i) adds x[i] y[i] to `into`.
template <class T, class Accumulator, class AddOne>
void add_all(const T* x, const T* y, std::size_t count, Accumulator& into, AddOne add_one) {
  constexpr std::size_t shortest = 128;  // below it, adding one by one is quicker
  constexpr std::size_t block = 1024;    // its terms stay in the first cache
  double product[block], error[block];
  exact_accumulator<double> terms;
  bool any = false;
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t length = std::min(block, count - begin);
    const std::size_t done = length < shortest ? 0 : split(x + begin, y + begin, length, product, error);
    if (done > 0) {
      any = true;
      add_exact(product, done, terms);
      if constexpr (sizeof(T) == 8) add_exact(error, done, terms);
    }
    for (std::size_t i = begin + done; i < begin + length; ++i) add_one(i);
  }
  if (any) into.add_sum(terms.total());
}

}  // namespace

template <class T>
void add_squares(const T* x, std::size_t count, exact_square_accumulator<T>& into) {
  add_all(x, x, count, into, [&](std::size_t i) { into.add(x[i]); });
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
