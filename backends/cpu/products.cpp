// SPDX-License-Identifier: Apache-2.0
// Exact sums of products. The product of two floats is exact in double. The product of two doubles is the sum of the
// rounded product and its rounding error, a double too, which an FMA computes if the product is neither too large nor
// too small. With AVX-512 the sums of these doubles are proven exact (proven-inl.h); where they are not, and
// elsewhere, add_wide() sums them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/products.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "backends/cpu/bounded-inl.h"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/products.hpp"
#include "backends/cpu/proven-inl.h"
#include "backends/cpu/proven.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// FANIN_MUL_SUB_IS_FUSED: whether hn::MulSub() rounds once, so that it finds the error of a product of doubles.
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

/// Folds x[0..count) in double, and for products also y. `depth` of the sums of products round. For moments the
/// sums of the elements come first. Returns whether the sums in `total` are exact.
template <class T>
HWY_INLINE bool prove([[maybe_unused]] product_terms what, [[maybe_unused]] int depth, [[maybe_unused]] const T* x,
                      [[maybe_unused]] const T* y, [[maybe_unused]] std::size_t count,
                      [[maybe_unused]] double* total) {
#if HWY_TARGET <= HWY_AVX3
  exception_flags flags;
  const auto fold = [&]<class Shallow, class Deep>(Shallow*, Deep*) HWY_ATTR {
    return depth == 1 ? fold_proven<Shallow>(x, y, count, flags, total)
                      : fold_proven<Deep>(x, y, count, flags, total);
  };
  switch (what) {
    case product_terms::products:
      return fold(static_cast<product_fold<T, 1>*>(nullptr), static_cast<product_fold<T, 2>*>(nullptr));
    case product_terms::squares:
      return fold(static_cast<square_fold<T, 1>*>(nullptr), static_cast<square_fold<T, 2>*>(nullptr));
    case product_terms::moments:
      return fold(static_cast<moments_fold<T, 1>*>(nullptr), static_cast<moments_fold<T, 2>*>(nullptr));
  }
#else
  if constexpr (sizeof(T) == 4 || FANIN_MUL_SUB_IS_FUSED) {
    // Deeper sums are the same ones here, and are tried for short arrays alone.
    if (depth > 1 && count >= shortest_shallow) return false;
    double* const of_products = what == product_terms::moments ? total + depth_of_elements<T>(depth) + 1 : total;
    std::fill(total, total + most_proven_totals, 0.0);
    switch (what) {
      case product_terms::products:
        return fold_bounded<product_terms::products>(x, y, count, total, of_products);
      case product_terms::squares:
        return fold_bounded<product_terms::squares>(x, x, count, total, of_products);
      case product_terms::moments:
        return fold_bounded<product_terms::moments>(x, x, count, total, of_products);
    }
  }
#endif
  return false;
}
bool prove_f32(product_terms what, int depth, const float* x, const float* y, std::size_t count, double* total) {
  return prove(what, depth, x, y, count, total);
}
bool prove_f64(product_terms what, int depth, const double* x, const double* y, std::size_t count, double* total) {
  return prove(what, depth, x, y, count, total);
}

/// Whether sums are proven by the processor's inexact flag. Elsewhere the exponents of the elements prove them.
bool proves_by_flag() { return HWY_TARGET <= HWY_AVX3; }

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(split_f32);
HWY_EXPORT(split_f64);
HWY_EXPORT(prove_f32);
HWY_EXPORT(prove_f64);
HWY_EXPORT(proves_by_flag);

bool prove(product_terms what, int depth, const float* x, const float* y, std::size_t count, double* total) {
  return HWY_DYNAMIC_DISPATCH(prove_f32)(what, depth, x, y, count, total);
}
bool prove(product_terms what, int depth, const double* x, const double* y, std::size_t count, double* total) {
  return HWY_DYNAMIC_DISPATCH(prove_f64)(what, depth, x, y, count, total);
}
std::size_t split(const float* x, const float* y, std::size_t count, double* product, double* error) {
  return HWY_DYNAMIC_DISPATCH(split_f32)(x, y, count, product, error);
}
std::size_t split(const double* x, const double* y, std::size_t count, double* product, double* error) {
  return HWY_DYNAMIC_DISPATCH(split_f64)(x, y, count, product, error);
}

}  // namespace

/// Folds one tile after the other in double. The class has a name outside of this file, because add_moments(), which
/// others call, has lambdas that hold such an object.
template <class T>
class prover {
 public:
  explicit prover(product_terms what) : what_(what) {}

  /// The most elements that are folded at once.
  static std::size_t tile() { return HWY_DYNAMIC_DISPATCH(proves_by_flag)() ? proven_tile<T> : bounded_tile<T>; }
  /// Folds x[0..count), and y, of at most a tile. Returns whether the sums are exact.
  bool fold(const T* x, const T* y, std::size_t count) {
    const bool shallow = count >= shortest_shallow;
    const auto attempt = [&](int i) {
      depth_ = shallow ? i + 1 : product_depths;
      if (!prove(what_, depth_, x, y, count, total_)) return false;
      // A sum of -0 alone is -0, which these sums do not tell from others of 0. Squares are never -0.
      return what_ == product_terms::squares ||
             std::any_of(total_, total_ + elements() + products(), [](double t) { return t != 0; });
    };
    return attempts_.add(shallow ? product_depths : 1, attempt);
  }
  /// Adds the tile's sum of elements.
  void add_elements_to(exact_accumulator<T>& into) const { add(total_, elements(), into); }
  /// Adds the tile's sum of products.
  template <class Accumulator>
  void add_products_to(Accumulator& into) const {
    add(total_ + elements(), products(), into);
  }

 private:
  int elements() const { return what_ == product_terms::moments ? depth_of_elements<T>(depth_) + 1 : 0; }
  int products() const { return (sizeof(T) == 4 ? 1 : 2) * (depth_ + 1); }
  template <class Accumulator>
  static void add(const double* total, int count, Accumulator& into) {
    into.add_scaled(0, 0);  // notes that there were elements
    for (int i = 0; i < count; ++i) add_double(total[i], into);
  }

  product_terms what_;
  attempt_order attempts_;
  int depth_ = 1;
  double total_[most_proven_totals];
};

namespace {

/// Adds x[i] y[i] for all i < count to `terms`. A product that cannot be split is added to `into`, by add_one(i).
template <class T, class AddOne>
void add_split(const T* x, const T* y, std::size_t count, exact_accumulator<double>& terms, AddOne add_one) {
  constexpr std::size_t shortest = 128;  // fewer are added sooner one by one
  constexpr std::size_t block = 1024;    // a block's terms stay in the L1 cache
  double product[block], error[block];
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t length = std::min(block, count - begin);
    const std::size_t split_count = length < shortest ? 0 : split(x + begin, y + begin, length, product, error);
    if (split_count > 0) {
      add_wide(product, split_count, terms);
      if constexpr (sizeof(T) == 8) add_wide(error, split_count, terms);
    }
    for (std::size_t i = begin + split_count; i < begin + length; ++i) add_one(i);
  }
}

/// Adds x[i] y[i] for all i < count to `into`. add_one(i) does that for one i.
template <class T, class Accumulator, class AddOne>
void add_all(product_terms what, const T* x, const T* y, std::size_t count, Accumulator& into, AddOne add_one) {
  constexpr std::size_t shortest_proven = 32;
  if (count < shortest_proven) {
    for (std::size_t i = 0; i < count; ++i) add_one(i);
    return;
  }
  exact_accumulator<double> terms;
  prover<T> proven(what);
  const std::size_t tile = proven.tile();
  for (std::size_t begin = 0; begin < count; begin += tile) {
    const std::size_t length = std::min(tile, count - begin);
    if (proven.fold(x + begin, y + begin, length)) {
      proven.add_products_to(into);
    } else {
      add_split(x + begin, y + begin, length, terms, [&](std::size_t i) { add_one(begin + i); });
    }
  }
  if (terms.count() > 0) into.add_sum(terms.total());
}

}  // namespace

template <class T>
void add_squares(const T* x, std::size_t count, exact_square_accumulator<T>& into) {
  into.add_elements(count, [&](auto& sum) {
    add_all(product_terms::squares, x, x, count, sum, [&](std::size_t i) { sum.add(x[i]); });
  });
}
template <class T>
void add_products(const T* x, const T* y, std::size_t count, exact_dot_accumulator<T>& into) {
  add_all(product_terms::products, x, y, count, into, [&](std::size_t i) { into.add(x[i], y[i]); });
}

/// Adds elements and their squares. A part of the input whose sums cannot be proven is added in two passes.
template <class T>
void add_moments(const T* x, std::size_t count, exact_moments_accumulator<T>& into) {
  constexpr std::size_t cached = (std::size_t{1} << 17) / sizeof(T);  // what stays in a cache for the second pass
  prover<T> proven(product_terms::moments);
  while (count > 0) {
    std::size_t length = std::min(proven.tile(), count);
    if (proven.fold(x, x, length)) {
      into.sum.add_elements(length, [&](auto& sum) { proven.add_elements_to(sum); });
      into.squares.add_elements(length, [&](auto& sum) { proven.add_products_to(sum); });
    } else {
      length = std::min(cached, count);
      add_exact(x, length, into.sum);
      add_squares(x, length, into.squares);
    }
    x += length;
    count -= length;
  }
}

template void add_squares(const float*, std::size_t, exact_square_accumulator<float>&);
template void add_squares(const double*, std::size_t, exact_square_accumulator<double>&);
template void add_moments(const float*, std::size_t, exact_moments_accumulator<float>&);
template void add_moments(const double*, std::size_t, exact_moments_accumulator<double>&);
template void add_products(const float*, const float*, std::size_t, exact_dot_accumulator<float>&);
template void add_products(const double*, const double*, std::size_t, exact_dot_accumulator<double>&);

}  // namespace fanin::cpu
#endif
