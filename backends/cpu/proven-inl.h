// SPDX-License-Identifier: Apache-2.0
// Sums in doubles that the processor proves to be exact: an operation that rounds sets the inexact flag. With
// AVX-512, an instruction may be told not to set it, so that one rounding is allowed where its error is found.
//
// A sum s that rounds takes v by t = s + v without the flag, and leaves the error v - (t - s) to the next sum, which
// may round in the same way; the last sum does not. If the flag is not set after a tile, no error was rounded and
// neither was the last sum, so that the sums together have grown by v exactly, whatever the magnitudes were. For a
// product x y of floats, t = fma(x, y, s), and the error is fma(x, y, -(t - s)). The product of two doubles is
// p = fl(x y) and its error fma(x, y, -p), which are two terms. Overflow, infinities and NaN leave a sum that is not
// finite.
//
// Highway includes this file once for each instruction set.
#if defined(FANIN_PROVEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_PROVEN_INL_H_
#undef FANIN_PROVEN_INL_H_
#else
#define FANIN_PROVEN_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>

#include "backends/cpu/exception_flags.hpp"
#include "backends/cpu/prefetch.hpp"
#include "backends/cpu/proven.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// Whether the instruction set has instructions that leave the flag alone.
constexpr bool has_proven_sums = HWY_TARGET <= HWY_AVX3;

#if HWY_TARGET <= HWY_AVX3

/// Keeps the compiler from moving operations on v past it.
HWY_INLINE void pin(__m512d& v) { asm volatile("" : "+v"(v)); }

/// a + b, x y and x y + b that do not set the flag.
HWY_INLINE __m512d silent_add(__m512d a, __m512d b) {
  return _mm512_add_round_pd(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d silent_mul(__m512d x, __m512d y) {
  return _mm512_mul_round_pd(x, y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HWY_INLINE __m512d silent_mul_add(__m512d x, __m512d y, __m512d b) {
  return _mm512_fmadd_round_pd(x, y, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// Whether sums of this depth may hold terms of so many digits, whose exponents differ by `apart`. If this is false,
/// an attempt nearly always fails. It succeeds if the last digits of the smaller terms are 0, or large terms cancel.
constexpr bool digits_fit(int depth, int apart, int digits) { return apart <= 40 * depth + 53 - digits; }

/// The sum of terms v is kept in Depth sums that round and one that does not.
template <int Depth>
struct sum_chain {
  static constexpr int totals = Depth + 1;
  double first;
  __m512d sum;
  sum_chain<Depth - 1> errors;
  /// `size` is a power of two, about the largest of the terms. The sum begins with a number so large that a tile of
  /// such terms adds up to less than 2^53 of its units.
  HWY_INLINE void start(double size) {
    first = 0x1.8p13 * size;
    sum = _mm512_set1_pd(first);
    errors.start(0x1p-40 * size);
  }
  HWY_INLINE void pin_all() {
    pin(sum);
    errors.pin_all();
  }
  HWY_INLINE void add(__m512d v) {
    const auto t = silent_add(sum, v);
    errors.add(_mm512_sub_pd(v, _mm512_sub_pd(t, sum)));
    sum = t;
  }
  /// Adds products of floats.
  HWY_INLINE void add_product(__m512d x, __m512d y) {
    const auto t = silent_mul_add(x, y, sum);
    errors.add(_mm512_fmsub_pd(x, y, _mm512_sub_pd(t, sum)));
    sum = t;
  }
  /// Takes away the number with which the sum began.
  HWY_INLINE void settle() {
    sum = _mm512_sub_pd(sum, _mm512_set1_pd(first));
    errors.settle();
  }
  HWY_INLINE void merge(const sum_chain& other) {
    sum = _mm512_add_pd(sum, other.sum);
    errors.merge(other.errors);
  }
  HWY_INLINE void store(double* total) const {
    *total = _mm512_reduce_add_pd(sum);
    errors.store(total + 1);
  }
};
template <>
struct sum_chain<0> {
  static constexpr int totals = 1;
  __m512d sum;
  HWY_INLINE void start(double) { sum = _mm512_setzero_pd(); }
  HWY_INLINE void pin_all() { pin(sum); }
  HWY_INLINE void add(__m512d v) { sum = _mm512_add_pd(sum, v); }
  HWY_INLINE void settle() {}
  HWY_INLINE void merge(const sum_chain& other) { sum = _mm512_add_pd(sum, other.sum); }
  HWY_INLINE void store(double* total) const { *total = _mm512_reduce_add_pd(sum); }
};

/// The sum of products of Ts.
template <class T, int Depth>
struct product_sums {
  static constexpr int totals = Depth + 1;
  static bool may_hold(int apart) { return digits_fit(Depth, apart, 48); }
  sum_chain<Depth> products;
  HWY_INLINE void start(double size) { products.start(size); }
  HWY_INLINE void pin_all() { products.pin_all(); }
  HWY_INLINE void add(__m512d x, __m512d y) { products.add_product(x, y); }
  HWY_INLINE void settle() { products.settle(); }
  HWY_INLINE void merge(const product_sums& other) { products.merge(other.products); }
  HWY_INLINE void store(double* total) const { products.store(total); }
};
template <int Depth>
struct product_sums<double, Depth> {
  static constexpr int totals = 2 * (Depth + 1);
  static bool may_hold(int apart) { return digits_fit(Depth, apart, 53); }
  sum_chain<Depth> products, errors;
  HWY_INLINE void start(double size) {
    products.start(size);
    errors.start(0x1p-53 * size);
  }
  HWY_INLINE void pin_all() {
    products.pin_all();
    errors.pin_all();
  }
  HWY_INLINE void add(__m512d x, __m512d y) {
    const auto product = silent_mul(x, y);
    products.add(product);
    errors.add(_mm512_fmsub_pd(x, y, product));
  }
  HWY_INLINE void settle() {
    products.settle();
    errors.settle();
  }
  HWY_INLINE void merge(const product_sums& other) {
    products.merge(other.products);
    errors.merge(other.errors);
  }
  HWY_INLINE void store(double* total) const {
    products.store(total);
    errors.store(total + Depth + 1);
  }
};

/// The sums into which the elements of a tile are folded. start() receives the sizes of x and y.
template <class T, int Depth>
struct element_fold : sum_chain<Depth> {
  static constexpr int inputs = 1;
  static bool may_hold(int x, int) { return digits_fit(Depth, x, std::numeric_limits<T>::digits); }
  HWY_INLINE void start(double x, double) { sum_chain<Depth>::start(x); }
  HWY_INLINE void add(__m512d x, __m512d) { sum_chain<Depth>::add(x); }
};
template <class T, int Depth>
struct product_fold : product_sums<T, Depth> {
  static constexpr int inputs = 2;
  static bool may_hold(int x, int y) { return product_sums<T, Depth>::may_hold(x + y); }
  HWY_INLINE void start(double x, double y) { product_sums<T, Depth>::start(x * y); }
};
template <class T, int Depth>
struct square_fold : product_sums<T, Depth> {
  static constexpr int inputs = 1;
  static bool may_hold(int x, int) { return product_sums<T, Depth>::may_hold(2 * x); }
  HWY_INLINE void start(double x, double) { product_sums<T, Depth>::start(x * x); }
};
/// The elements, then their squares.
template <class T, int Depth>
struct moments_fold {
  static constexpr int element_depth = depth_of_elements<T>(Depth);
  static constexpr int inputs = 1, totals = element_depth + 1 + product_sums<T, Depth>::totals;
  static bool may_hold(int x, int) { return product_sums<T, Depth>::may_hold(2 * x); }
  sum_chain<element_depth> elements;
  product_sums<T, Depth> squares;
  HWY_INLINE void start(double x, double) {
    elements.start(x);
    squares.start(x * x);
  }
  HWY_INLINE void pin_all() {
    elements.pin_all();
    squares.pin_all();
  }
  HWY_INLINE void add(__m512d x, __m512d) {
    elements.add(x);
    squares.add(x, x);
  }
  HWY_INLINE void settle() {
    elements.settle();
    squares.settle();
  }
  HWY_INLINE void merge(const moments_fold& other) {
    elements.merge(other.elements);
    squares.merge(other.squares);
  }
  HWY_INLINE void store(double* total) const {
    elements.store(total);
    squares.store(total + element_depth + 1);
  }
};

HWY_INLINE __m512d load_doubles(const double* x) { return _mm512_loadu_pd(x); }
HWY_INLINE __m512d load_doubles(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
/// The first count <= 8 elements, and zeros.
HWY_INLINE __m512d load_first(const double* x, std::size_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), x);
}
HWY_INLINE __m512d load_first(const float* x, std::size_t count) {
  return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(static_cast<__mmask8>((1u << count) - 1), x));
}

/// The magnitudes of the first elements of an array.
struct magnitudes {
  double size;  ///< a power of two, about the largest magnitude
  int apart;    ///< the difference between the largest and the smallest exponent of elements that are not 0
};
template <class T>
HWY_INLINE magnitudes first_magnitudes(const T* x, std::size_t count) {
  constexpr std::size_t width = 8;
  const auto one = _mm512_set1_epi64(1);
  auto largest = _mm512_setzero_si512(), least = _mm512_set1_epi64(-1);
  const auto add = [&](__m512d v) HWY_ATTR {
    const auto magnitude = _mm512_castpd_si512(_mm512_abs_pd(v));
    largest = _mm512_max_epu64(largest, magnitude);
    least = _mm512_min_epu64(least, _mm512_sub_epi64(magnitude, one));  // 0 wraps round to the largest value
  };
  std::size_t i = 0;
  for (; i + width <= count && i < 4 * width; i += width) add(load_doubles(x + i));
  if (i == 0) add(load_first(x, count));
  const std::uint64_t top = _mm512_reduce_max_epu64(largest), bottom = _mm512_reduce_min_epu64(least) + 1;
  using format = detail::float_format<double>;
  return {detail::from_bits<double>(top & format::infinity), static_cast<int>((top >> 52) - (bottom >> 52))};
}

/// Folds x[0..count), and y too if the fold has two inputs. Returns whether total[0..Fold::totals) is exact.
template <class Fold, class T>
HWY_NOINLINE bool fold_proven(const T* x, const T* y, std::size_t count, exception_flags& flags, double* total) {
  constexpr std::size_t width = 8, step = 4 * width;
  const auto of_x = first_magnitudes(x, count), of_y = Fold::inputs == 2 ? first_magnitudes(y, count) : of_x;
  if (!Fold::may_hold(of_x.apart, of_y.apart)) return false;
  const double size_x = of_x.size, size_y = of_y.size;
  Fold a, b, c, d;  // each one started by itself, which GCC keeps in registers
  a.start(size_x, size_y), b.start(size_x, size_y), c.start(size_x, size_y), d.start(size_x, size_y);
  flags.clear_inexact();
  a.pin_all(), b.pin_all(), c.pin_all(), d.pin_all();
  const auto add = [&](Fold& fold, std::size_t at) HWY_ATTR {
    const auto v = load_doubles(x + at);
    fold.add(v, Fold::inputs == 2 ? load_doubles(y + at) : v);
  };
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    for (std::size_t k = 0; k < step; k += 64 / sizeof(T)) {
      prefetch_line(x + i + k);
      if constexpr (Fold::inputs == 2) prefetch_line(y + i + k);
    }
    add(a, i);
    add(b, i + width);
    add(c, i + 2 * width);
    add(d, i + 3 * width);
  }
  for (; i < count; i += width) {
    const std::size_t left = std::min(width, count - i);
    const auto v = load_first(x + i, left);
    a.add(v, Fold::inputs == 2 ? load_first(y + i, left) : v);
  }
  a.settle(), b.settle(), c.settle(), d.settle();
  a.merge(b), c.merge(d), a.merge(c);
  a.store(total);
  bool finite = true;
  for (int t = 0; t < Fold::totals; ++t) {
    asm volatile("" : "+x"(total[t]));
    finite = finite && std::isfinite(total[t]);
  }
  return finite && !flags.has_inexact();
}

#endif  // HWY_TARGET <= HWY_AVX3

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
