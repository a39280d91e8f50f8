// SPDX-License-Identifier: Apache-2.0
// Loads of floats and doubles into vectors of 64-bit elements. Highway includes this file once for each instruction
// set.
#if defined(FANIN_LOADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_LOADS_INL_H_
#undef FANIN_LOADS_INL_H_
#else
#define FANIN_LOADS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The numbers x[0..Lanes(d)) as doubles.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}

/// The bits of x[0..Lanes(w)).
template <class W>
HWY_INLINE hn::Vec<W> load_bits(W w, const double* x) {
  return hn::BitCast(w, hn::LoadU(hn::Rebind<double, W>(), x));
}
template <class W>
HWY_INLINE hn::Vec<W> load_bits(W w, const float* x) {
  const hn::Rebind<float, W> f;
  return hn::PromoteTo(w, hn::BitCast(hn::RebindToUnsigned<decltype(f)>(), hn::LoadU(f, x)));
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
