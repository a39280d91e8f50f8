// SPDX-License-Identifier: Apache-2.0
// Loads of floats and doubles into vectors of 64-bit elements, and of narrow floats as floats. Highway includes this
// file once for each instruction set.
#if defined(FANIN_LOADS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_LOADS_INL_H_
#undef FANIN_LOADS_INL_H_
#else
#define FANIN_LOADS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <fanin/narrow_float.hpp>

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

/// True if the target has instructions that convert numbers of T. Without instructions for f16, Highway takes
/// infinities and NaN of f16 for numbers. AVX2 and newer targets, which have lower numbers, have such instructions,
/// and so has every ARMv8.
template <class T>
constexpr bool converts = !std::is_same_v<T, f16> || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64;

/// The numbers x[0..Lanes(d)) of 8 or 16 bits as floats.
template <class D, class T>
HWY_INLINE hn::Vec<D> floats_of(D d, const T* x) {
  const hn::Rebind<typename T::word, D> bits;
  const auto v = hn::LoadU(bits, reinterpret_cast<const typename T::word*>(x));
  if constexpr (sizeof(T) == 2) {
    using stored = std::conditional_t<std::is_same_v<T, f16>, hwy::float16_t, hwy::bfloat16_t>;
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<stored, D>(), v));
  } else {
    const hn::RebindToUnsigned<D> u;
    const auto wide = hn::PromoteTo(u, v);
    const auto magnitude = hn::And(wide, hn::Set(u, T::sign_bit - 1u));
    const auto moved = hn::ShiftLeft<24 - std::numeric_limits<T>::digits>(magnitude);
    const auto float_of_one = hn::Set(u, T::rebias + (1u << 23));
    const auto subnormal =
        hn::BitCast(u, hn::Sub(hn::BitCast(d, hn::Add(moved, float_of_one)), hn::BitCast(d, float_of_one)));
    const auto number = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, T::implicit_one)), subnormal,
                                       hn::Add(moved, hn::Set(u, T::rebias)));
    const auto payload = T::has_infinity ? moved : hn::Set(u, T::quiet_bit);
    const auto any = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u, T::after_largest)), number,
                                    hn::Or(payload, hn::Set(u, T::float_infinity)));
    return hn::BitCast(d, hn::Or(any, hn::ShiftLeft<24>(hn::And(wide, hn::Set(u, T::sign_bit)))));
  }
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x) {
  return hn::PromoteTo(d, floats_of(hn::Rebind<float, D>(), x));
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
