// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/estimates.hpp"

#include <bit>
#include <cmath>

#include <fanin/elements.hpp>
#include <fanin/narrow_float.hpp>

namespace fanin::cpu {
namespace {

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
  std::uint64_t left = 0;
  with_element(result, [&]<class R>() {
    if constexpr (floating<R>) {
      for (std::size_t i = 0; i < number; ++i) {
        left |= std::uint64_t{!settle(found[i], static_cast<R*>(out)[i])} << i;
      }
    }
  });
  return left;
}

}  // namespace fanin::cpu
