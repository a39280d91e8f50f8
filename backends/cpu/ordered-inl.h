// SPDX-License-Identifier: Apache-2.0
// The kernels whose order of operations is part of the result. Highway includes this file once for each instruction
// set.
#if defined(FANIN_ORDERED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_ORDERED_INL_H_
#undef FANIN_ORDERED_INL_H_
#else
#define FANIN_ORDERED_INL_H_
#endif

#include <hwy/highway.h>

#include <fanin/accumulator/accumulator.hpp>

#include "backends/cpu/error_free-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

/// States of one number. An element is added by the operation that merges two states.
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

struct magnitude_kernel : sum_kernel {
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x) {
    sum_kernel::add(d, s, hn::Abs(x));
  }
};

struct dot_kernel : sum_kernel {
  static constexpr int inputs = 2;
  template <class D, class S, class V>
  static HWY_INLINE void add(D d, S& s, V x, V y) {
    sum_kernel::add(d, s, hn::Mul(x, y));
  }
};

struct compensated_sum_kernel {
  static constexpr int inputs = 1, planes = 2;
  /// There are so many operations for each cache line that the core's out-of-order window has too few loads to
  /// hide the latency of memory. From memory this sum has 0.65 of a plain sum's speed without prefetches, and 0.95
  /// with them.
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

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
