// SPDX-License-Identifier: Apache-2.0
// Rounding errors of sums and of products, which are numbers of the same type.
// Highway includes this file once for each instruction set.
#if defined(FANIN_ERROR_FREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_ERROR_FREE_INL_H_
#undef FANIN_ERROR_FREE_INL_H_
#else
#define FANIN_ERROR_FREE_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Knuth's TwoSum: sets a to fl(a + b), and returns the rounding error, which is exact.
template <class V>
HWY_INLINE V two_sum(V& a, V b) {
  const V s = hn::Add(a, b);
  const V from_b = hn::Sub(s, a);
  const V e = hn::Add(hn::Sub(a, hn::Sub(s, from_b)), hn::Sub(b, from_b));
  a = s;
  return e;
}

/// x * y - p with one rounding, also on instruction sets without a fused multiply-add.
template <class D, class V>
HWY_INLINE V error_of_product(D d, V x, V y, V p) {
#if HWY_NATIVE_FMA
  (void)d;
  return hn::MulSub(x, y, p);
#else
  using T = hn::TFromD<D>;
  constexpr std::size_t width = hn::MaxLanes(D());
  HWY_ALIGN T xs[width];
  HWY_ALIGN T ys[width];
  HWY_ALIGN T ps[width];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  hn::Store(p, d, ps);
  for (std::size_t i = 0; i < width; ++i) ps[i] = std::fma(xs[i], ys[i], -ps[i]);
  return hn::Load(d, ps);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
