// SPDX-License-Identifier: Apache-2.0
// The rounding of estimates. A vector of them is rounded at once if all results are known and none is subnormal.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/estimates.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>

#include <fanin/elements.hpp>
#include <fanin/narrow_float.hpp>

#include "backends/cpu/estimates.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64

constexpr std::size_t estimates_in_vector = hn::MaxLanes(hn::ScalableTag<double>());

/// Rounds a vector of estimates. Returns false if one of the results is unknown, subnormal or not finite.
template <class R>
HWY_INLINE bool round_vector(const estimate* found, R* out) {
  using limits = std::numeric_limits<R>;
  const hn::ScalableTag<double> d;
  const hn::RebindToSigned<decltype(d)> w;
  const hn::RebindToUnsigned<decltype(d)> u;
  hn::Vec<decltype(d)> value, low, error;
  hn::LoadInterleaved3(d, &found->value, value, low, error);
  const auto is_exact = hn::Eq(error, hn::Zero(d));
  // The ends of the range are rounded to double before they are rounded to R.
  if constexpr (sizeof(R) < 8) error = hn::MulAdd(hn::Abs(value), hn::Set(d, 0x1p-52), error);
  const auto first = hn::IfThenElse(is_exact, value, hn::Add(value, hn::Sub(low, error)));
  const auto last = hn::IfThenElse(is_exact, value, hn::Add(value, hn::Add(low, error)));
  // Doubles as words of `kept` bits of mantissa, rounded to nearest, ties to even.
  constexpr int kept = limits::digits - 1, dropped = 52 - kept;
  const auto rounded = [&](auto x) HWY_ATTR {
    const auto bits = hn::BitCast(u, x);
    if constexpr (dropped == 0) {
      return hn::BitCast(w, bits);
    } else {
      const auto odd = hn::And(hn::ShiftRight<dropped>(bits), hn::Set(u, 1));
      const auto half = hn::Set(u, (std::uint64_t{1} << (dropped - 1)) - 1);
      return hn::BitCast(w, hn::ShiftRight<dropped>(hn::Add(bits, hn::Add(half, odd))));
    }
  };
  constexpr std::int64_t one = std::int64_t{1} << kept, magnitude_bits = std::int64_t{0x7ff} * one + (one - 1);
  const auto words = rounded(last);
  const auto magnitude = hn::And(words, hn::Set(w, magnitude_bits));
  const auto is_zero = hn::Eq(hn::BitCast(w, hn::Abs(last)), hn::Zero(w));
  const auto is_normal = hn::And(hn::Gt(magnitude, hn::Set(w, (1022 + limits::min_exponent) * one - 1)),
                                 hn::Lt(magnitude, hn::Set(w, (1023 + limits::max_exponent) * one)));
  const auto known = hn::And(hn::Eq(rounded(first), words), hn::Or(is_zero, is_normal));
  if (!hn::AllTrue(w, known)) return false;
  const auto bits = hn::IfThenZeroElse(is_zero, hn::Sub(magnitude, hn::Set(w, (1024 - limits::max_exponent) * one)));
  HWY_ALIGN std::int64_t results[estimates_in_vector], signs[estimates_in_vector];
  hn::Store(bits, w, results);
  hn::Store(words, w, signs);
  for (std::size_t i = 0; i < estimates_in_vector; ++i) {
    using word = hwy::UnsignedFromSize<sizeof(R)>;
    const auto is_negative = static_cast<word>((signs[i] & ~magnitude_bits) != 0);
    out[i] = std::bit_cast<R>(static_cast<word>(static_cast<word>(results[i]) | is_negative << (8 * sizeof(R) - 1)));
  }
  return true;
}

#else

constexpr std::size_t estimates_in_vector = 1;
template <class R>
bool round_vector(const estimate*, R*) {
  return false;
}

#endif

/// Rounds estimates by whole vectors. Bit i of the returned number says that estimate i is left.
std::uint64_t round_vectors(const estimate* found, std::size_t number, element_type result, void* out) {
  std::uint64_t left = ~std::uint64_t{0} >> (64 - number);
  with_element(result, [&]<class R>() {
    if constexpr (floating<R> && sizeof(R) > 1) {
      for (std::size_t i = 0; i + estimates_in_vector <= number; i += estimates_in_vector) {
        if (!round_vector(found + i, static_cast<R*>(out) + i)) continue;
        left &= ~(((std::uint64_t{1} << estimates_in_vector) - 1) << i);
      }
    }
  });
  return left;
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(round_vectors);

/// The nearest number of type R. A narrow one is rounded from a float that is x, or if x is no float, the neighbour
/// of x with an odd mantissa: both are on the same side of every middle of two narrow numbers.
template <class R>
R nearest(double x) {
  if constexpr (narrow_float<R>) {
    constexpr std::uint64_t dropped = (std::uint64_t{1} << 29) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(x), odd = std::uint64_t{(bits & dropped) != 0} << 29;
    return R(static_cast<float>(std::bit_cast<double>((bits & ~dropped) | odd)));
  } else {
    return static_cast<R>(x);
  }
}

template <class R>
bool is_same(R a, R b) {
  if constexpr (narrow_float<R>) {
    return a.bits == b.bits;
  } else {
    return a == b && std::signbit(a) == std::signbit(b);
  }
}

/// Whether x may have no odd neighbour among floats.
bool is_subnormal(double x) { return x != 0 && std::fabs(x) < std::numeric_limits<float>::min(); }

/// Sets `result` to the nearest number. Returns false if that is unknown.
template <class R>
bool round_to(double x, R& result) {
  result = nearest<R>(x);
  if constexpr (narrow_float<R>) {
    // A format without infinity has a NaN beyond its largest number, whose sign is not that of the sum.
    if (is_subnormal(x) || (!R::has_infinity && result != result)) return false;
  }
  return true;
}

template <class R>
bool settle(const estimate& found, R& result) {
  if (found.error == 0) return round_to(found.value, result);
  double error = found.error;
  // The ends of the range are rounded to double before they are rounded to R.
  if (sizeof(R) < sizeof(double)) error += 0x1p-52 * std::fabs(found.value);
  R low;
  return round_to(found.value + (found.low - error), low) && round_to(found.value + (found.low + error), result) &&
         is_same(low, result) && error < HUGE_VAL;
}

}  // namespace

std::uint64_t round_estimates(const estimate* found, std::size_t number, element_type result, void* out) {
  std::uint64_t left = HWY_DYNAMIC_DISPATCH(round_vectors)(found, number, result, out);
  with_element(result, [&]<class R>() {
    if constexpr (floating<R>) {
      for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        if (settle(found[i], static_cast<R*>(out)[i])) left &= ~(std::uint64_t{1} << i);
      }
    }
  });
  return left;
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
