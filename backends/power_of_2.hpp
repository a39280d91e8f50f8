// SPDX-License-Identifier: Apache-2.0
// Powers of two as floats, made of their bits.
#pragma once

#include <concepts>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin {

/// 2^exponent, if it is a normal number; infinity for the exponent after the largest one.
template <std::floating_point R>
FANIN_HOST_DEVICE constexpr R power_of_2(int exponent) {
  using format = detail::float_format<R>;
  const auto biased = static_cast<typename format::bits>(exponent + format::high - 1);
  return __builtin_bit_cast(R, biased << (format::digits - 1));
}

}  // namespace fanin
