// SPDX-License-Identifier: Apache-2.0
// Leaves whose order of operations is part of the result: sums, dot products and products of f32 and f64, and
// compensated sums and dot products.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/ordered.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>

#include "backends/cpu/error_free-inl.h"
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
  static constexpr int inputs = 1, planes = 1;
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

struct dot_kernel : sum_kernel {
  static constexpr int inputs = 2;
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x, V y) {
    sum_kernel::add(d, s, hn::Mul(x, y));
  }
};

struct compensated_sum_kernel {
  static constexpr int inputs = 1, planes = 2;
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

struct compensated_dot_kernel : compensated_sum_kernel {
  static constexpr int inputs = 2;
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x, V y) {
    const V p = hn::Mul(x, y);
    const V product_error = error_of_product(d, x, y, p);
    const V e = two_sum(s.plane[0], p);
    s.plane[1] = hn::Add(s.plane[1], hn::Add(e, product_error));
  }
};

template <class Kernel, class T>
HWY_INLINE input<T, Kernel::inputs> input_of(const operands& data) {
  const auto* const x = static_cast<const T*>(data.x);
  if constexpr (Kernel::inputs == 2) {
    return {{x}, {static_cast<const T*>(data.y)}};
  } else {
    return {x};
  }
}

template <class Kernel, class T>
std::array<T, Kernel::planes> collapse(const T* state) {
  row_state<Kernel, T> row;
  row.load(state);
  return collapse_row<Kernel, T>(row);
}

#define FANIN_FOLD(NAME, T)                                                      \
  void NAME##_##T(const operands& data, std::size_t count, T* state) {           \
    fold_to_row<NAME##_kernel>(input_of<NAME##_kernel, T>(data), count, state);  \
  }                                                                              \
  auto whole_##NAME##_##T(const operands& data, std::size_t count) {             \
    return fold_to_lane<NAME##_kernel>(input_of<NAME##_kernel, T>(data), count); \
  }
#define FANIN_COLLAPSE(NAME, T) \
  auto collapse_##NAME##_##T(const T* state) { return collapse<NAME##_kernel>(state); }
#define FANIN_LEAVES(T)          \
  FANIN_FOLD(sum, T)             \
  FANIN_FOLD(dot, T)             \
  FANIN_FOLD(product, T)         \
  FANIN_FOLD(compensated_sum, T) \
  FANIN_FOLD(compensated_dot, T) \
  FANIN_COLLAPSE(sum, T)         \
  FANIN_COLLAPSE(product, T)     \
  FANIN_COLLAPSE(compensated_sum, T)
FANIN_LEAVES(float)
FANIN_LEAVES(double)

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {

#define FANIN_DISPATCH_FOLD(NAME, T, ACCUMULATOR)                                                    \
  HWY_EXPORT(NAME##_##T);                                                                            \
  template <>                                                                                        \
  void fold_lanes<accumulator::ACCUMULATOR<T>>(const operands& data, std::size_t count, T* state) {  \
    HWY_DYNAMIC_DISPATCH(NAME##_##T)(data, count, state);                                            \
  }                                                                                                  \
  HWY_EXPORT(whole_##NAME##_##T);                                                                    \
  template <>                                                                                        \
  lane_of<accumulator::ACCUMULATOR<T>> fold_whole<accumulator::ACCUMULATOR<T>>(const operands& data, \
                                                                               std::size_t count) {  \
    return HWY_DYNAMIC_DISPATCH(whole_##NAME##_##T)(data, count);                                    \
  }
#define FANIN_DISPATCH_COLLAPSE(NAME, T, ACCUMULATOR)                                                \
  HWY_EXPORT(collapse_##NAME##_##T);                                                                 \
  template <>                                                                                        \
  lane_of<accumulator::ACCUMULATOR<T>> collapse_lanes<accumulator::ACCUMULATOR<T>>(const T* state) { \
    return HWY_DYNAMIC_DISPATCH(collapse_##NAME##_##T)(state);                                       \
  }
#define FANIN_DISPATCH(T)                                  \
  FANIN_DISPATCH_FOLD(sum, T, plain_sum)                   \
  FANIN_DISPATCH_FOLD(dot, T, plain_dot)                   \
  FANIN_DISPATCH_FOLD(product, T, plain_product)           \
  FANIN_DISPATCH_FOLD(compensated_sum, T, compensated_sum) \
  FANIN_DISPATCH_FOLD(compensated_dot, T, compensated_dot) \
  FANIN_DISPATCH_COLLAPSE(sum, T, plain_sum)               \
  FANIN_DISPATCH_COLLAPSE(product, T, plain_product)       \
  FANIN_DISPATCH_COLLAPSE(compensated_sum, T, compensated_sum)
FANIN_DISPATCH(float)
FANIN_DISPATCH(double)

}  // namespace fanin::cpu
#endif  // HWY_ONCE
