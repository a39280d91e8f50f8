// SPDX-License-Identifier: Apache-2.0
// Numbers as integers in the same order, so that any transport that knows the least of integers finds an extremum.
#pragma once

#include <limits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/compiler.hpp>

namespace fanin::cuda {

/// The integer for x: -0 is below +0, and NaN beyond all numbers, below them if the smallest is wanted.
template <class T>
FANIN_HOST_DEVICE std::int64_t key_of(T x, bool smallest) {
  if constexpr (floating<T>) {
    using format = detail::float_format<T>;
    const std::uint64_t bits = detail::to_bits(x), magnitude = bits & (format::sign - 1u);
    if (magnitude > format::infinity || (magnitude == format::infinity && !std::numeric_limits<T>::has_infinity)) {
      return smallest ? std::numeric_limits<std::int64_t>::min() : std::int64_t{format::quiet_nan};
    }
    const auto key = static_cast<std::int64_t>(magnitude);
    return (bits & format::sign) != 0 ? -1 - key : key;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(x ^ std::uint64_t{1} << 63);
  } else {
    return x;
  }
}

/// The number that has this key.
template <class T>
FANIN_HOST_DEVICE T number_of(std::int64_t key) {
  if constexpr (floating<T>) {
    using format = detail::float_format<T>;
    using bits = typename format::bits;
    if (key == std::numeric_limits<std::int64_t>::min()) return std::numeric_limits<T>::quiet_NaN();
    return detail::from_bits<T>(static_cast<bits>(key < 0 ? format::sign | static_cast<bits>(-1 - key) : key));
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63;
  } else {
    return static_cast<T>(key);
  }
}

}  // namespace fanin::cuda
