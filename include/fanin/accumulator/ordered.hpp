// SPDX-License-Identifier: Apache-2.0
// Numbers as integers in the same order. So a transport that can find the largest of integers can find an
// extremum.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/compiler.hpp>

namespace fanin::accumulator {

/// x as an integer that is larger for a larger x. -0 is below +0. Every NaN is `of_nan`, the largest integer or the
/// smallest one.
template <class T>
FANIN_HOST_DEVICE std::int64_t ordered(T x, std::int64_t of_nan = std::numeric_limits<std::int64_t>::max()) {
  if constexpr (floating<T>) {
    using format = fanin::detail::float_format<T>;
    const std::uint64_t bits = fanin::detail::to_bits(x), magnitude = bits & (format::sign - 1u);
    if (magnitude > format::infinity || (magnitude == format::infinity && !std::numeric_limits<T>::has_infinity)) {
      return of_nan;
    }
    const auto key = static_cast<std::int64_t>(magnitude);
    return (bits & format::sign) != 0 ? -1 - key : key;
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return static_cast<std::int64_t>(x ^ std::uint64_t{1} << 63);
  } else {
    return x;
  }
}

/// The x for which ordered(x) is `key`.
template <class T>
FANIN_HOST_DEVICE T of_ordered(std::int64_t key) {
  if constexpr (floating<T>) {
    using format = fanin::detail::float_format<T>;
    using bits = typename format::bits;
    using keys = std::numeric_limits<std::int64_t>;
    if (key == keys::min() || key == keys::max()) return std::numeric_limits<T>::quiet_NaN();
    return fanin::detail::from_bits<T>(static_cast<bits>(key < 0 ? format::sign | static_cast<bits>(-1 - key) : key));
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63;
  } else {
    return static_cast<T>(key);
  }
}

}  // namespace fanin::accumulator
