// Leaves whose order of operations is part of the result: sums, products and compensated sums of f32 and f64.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ordered.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>

#include "backends/cpu/lanes-inl.h"
#include "backends/cpu/leaf.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

struct addition {
  template <class T>
  static constexpr T identity() {
    return accumulator::additive_identity<T>();
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Add(a, b);
  }
};

struct multiplication {
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

/// A state of one number per lane. An element is added by the operation that merges two lanes.
template <class Operation>
struct plain_kernel {
  static constexpr int planes = 1;
  static constexpr bool always_prefetches = false;
  template <class T>
  static constexpr T neutral() {
    return Operation::template identity<T>();
  }
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    s.plane[0] = hn::Set(d, Operation::template identity<hn::TFromD<D>>());
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D, S& s, V x) {
    s.plane[0] = Operation::apply(s.plane[0], x);
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    s.plane[0] = Operation::apply(s.plane[0], other.plane[0]);
  }
};
using sum_kernel = plain_kernel<addition>;
using product_kernel = plain_kernel<multiplication>;

struct square_sum_kernel : sum_kernel {
  template <class T>
  static constexpr T neutral() {
    return T{0};
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    sum_kernel::add(d, s, hn::Mul(x, x));
  }
};

/// Knuth's TwoSum: sets a to fl(a + b), and returns the rounding error, which is exact.
template <class V>
HWY_INLINE V two_sum(V& a, V b) {
  const V s = hn::Add(a, b);
  const V from_b = hn::Sub(s, a);
  const V e = hn::Add(hn::Sub(a, hn::Sub(s, from_b)), hn::Sub(b, from_b));
  a = s;
  return e;
}

struct compensated_sum_kernel {
  static constexpr int planes = 2;
  /// With so many operations for each line, the core's out-of-order window holds too few loads to hide the memory's
  /// latency: from memory this sum has 0.65 of a plain sum's speed without prefetches, and 0.95 with them.
  static constexpr bool always_prefetches = true;
  template <class T>
  static constexpr T neutral() {
    return accumulator::additive_identity<T>();
  }
  template <class D, class S>
  static HWY_INLINE void reset(D d, S& s) {
    s.plane[0] = s.plane[1] = hn::Set(d, neutral<hn::TFromD<D>>());
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D, S& s, V x) {
    const V e = two_sum(s.plane[0], x);
    s.plane[1] = hn::Add(s.plane[1], e);
  }
  template <class D, class S>
  static HWY_INLINE void merge(D, S& s, const S& other) {
    const auto e = two_sum(s.plane[0], other.plane[0]);
    s.plane[1] = hn::Add(hn::Add(s.plane[1], other.plane[1]), e);
  }
};

/// x * x - p with one rounding, also on instruction sets without a fused multiply-add.
template <class D, class V>
HWY_INLINE V square_error(D d, V x, V p) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(x, x, p);
#else
  using T = hn::TFromD<D>;
  constexpr std::size_t width = hn::MaxLanes(D());
  HWY_ALIGN T xs[width];
  HWY_ALIGN T ps[width];
  hn::Store(x, d, xs);
  hn::Store(p, d, ps);
  for (std::size_t i = 0; i < width; ++i) ps[i] = std::fma(xs[i], xs[i], -ps[i]);
  return hn::Load(d, ps);
#endif
}

struct compensated_square_sum_kernel : compensated_sum_kernel {
  template <class T>
  static constexpr T neutral() {
    return T{0};
  }
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    const V p = hn::Mul(x, x);
    const V product_error = square_error(d, x, p);
    const V e = two_sum(s.plane[0], p);
    s.plane[1] = hn::Add(s.plane[1], hn::Add(e, product_error));
  }
};

#define FANIN_LEAF(NAME, KERNEL, T)                                                           \
  void fold_##NAME(const T* x, std::size_t n, T* state) { fold_leaves<KERNEL>(x, n, state); } \
  void collapse_##NAME(const T* state, T* out) { collapse_row<KERNEL>(state, out); }
FANIN_LEAF(sum_f32, sum_kernel, float)
FANIN_LEAF(sum_f64, sum_kernel, double)
FANIN_LEAF(square_sum_f32, square_sum_kernel, float)
FANIN_LEAF(square_sum_f64, square_sum_kernel, double)
FANIN_LEAF(product_f32, product_kernel, float)
FANIN_LEAF(product_f64, product_kernel, double)
FANIN_LEAF(compensated_sum_f32, compensated_sum_kernel, float)
FANIN_LEAF(compensated_sum_f64, compensated_sum_kernel, double)
FANIN_LEAF(compensated_square_sum_f32, compensated_square_sum_kernel, float)
FANIN_LEAF(compensated_square_sum_f64, compensated_square_sum_kernel, double)
#undef FANIN_LEAF

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH(NAME, ACCUMULATOR, T)                                              \
  HWY_EXPORT(fold_##NAME);                                                                \
  HWY_EXPORT(collapse_##NAME);                                                            \
  template <>                                                                             \
  void fold_lanes<accumulator::ACCUMULATOR<T>>(const T* x, std::size_t count, T* state) { \
    HWY_DYNAMIC_DISPATCH(fold_##NAME)(x, count, state);                                   \
  }                                                                                       \
  template <>                                                                             \
  void collapse_lanes<accumulator::ACCUMULATOR<T>>(const T* state, T* out) {              \
    HWY_DYNAMIC_DISPATCH(collapse_##NAME)(state, out);                                    \
  }
FANIN_DISPATCH(sum_f32, plain_sum, float)
FANIN_DISPATCH(sum_f64, plain_sum, double)
FANIN_DISPATCH(square_sum_f32, plain_square_sum, float)
FANIN_DISPATCH(square_sum_f64, plain_square_sum, double)
FANIN_DISPATCH(product_f32, plain_product, float)
FANIN_DISPATCH(product_f64, plain_product, double)
FANIN_DISPATCH(compensated_sum_f32, compensated_sum, float)
FANIN_DISPATCH(compensated_sum_f64, compensated_sum, double)
FANIN_DISPATCH(compensated_square_sum_f32, compensated_square_sum, float)
FANIN_DISPATCH(compensated_square_sum_f64, compensated_square_sum, double)
#undef FANIN_DISPATCH

}  // namespace fanin::cpu
#endif  // HWY_ONCE
