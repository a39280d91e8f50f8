// SPDX-License-Identifier: Apache-2.0
// Square roots of multi-word integers, rounded once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::detail {

/// floor(sqrt(x)).
FANIN_HOST_DEVICE inline std::uint32_t floor_root(std::uint64_t x) {
#ifdef __CUDA_ARCH__  // A GPU takes long for square roots of doubles.
  std::uint32_t root = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    const std::uint64_t larger = root | bit;
    if (larger * larger <= x) root |= bit;
  }
  return root;
#else
  constexpr std::uint64_t largest = ~std::uint32_t{0};
  // The root of a double is off by less than 1 with any rounding of x and of the root.
  std::uint64_t root = std::min(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x))), largest);
  if (root * root > x) --root;
  if (root < largest && (root + 1) * (root + 1) <= x) ++root;
  return static_cast<std::uint32_t>(root);
#endif
}

/// floor(sqrt(x)) for x >= 2^126. The upper half of the root is that of the upper half of x, and the lower half is
/// found by a division [Zimmermann 1999, Karatsuba Square Root].
FANIN_HOST_DEVICE FANIN_HOST_NOINLINE inline std::uint64_t floor_root(uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  const std::uint32_t upper = floor_root(high);
  const std::uint64_t rest = high - std::uint64_t{upper} * upper, next = static_cast<std::uint64_t>(x) >> 32;
  // (rest * 2^32 + next) / (2 upper): both are halved so that they have 64 bits.
  const std::uint64_t half = rest << 31 | next >> 1, lower = half / upper;
  const uint128 left = static_cast<uint128>(half % upper << 1 | (next & 1)) << 32 | static_cast<std::uint32_t>(x);
  const std::uint64_t root = (std::uint64_t{upper} << 32) + lower;
  return left < static_cast<uint128>(lower) * lower ? root - 1 : root;
}

/// The square root of sum(word[i] * 2^(low + 32 i)), rounded once to R. `low` is even, and `to` is the format of
/// R. Zero gives +0. With `more` an unknown amount below 2^low belongs to the sum, which must then have 127 bits
/// or more. The root of the leading 127 or 128 bits has 64 bits. The rounding also needs to know whether a
/// remainder or any other bit is left.
template <class R, class To = float_format<R>, int Count>
FANIN_HOST_DEVICE typename To::value rounded_root(const std::uint32_t (&word)[Count], int low, bool more = false,
                                                  To to = {}) {
  const leading_words<5> leading(word);
  if (leading.word[4] == 0) return to.made_of(0);
  int zeros = 0;
  while (leading.word[4] >> (31 - zeros) == 0) ++zeros;
  // The window is the leading 127 or 128 bits. The exponent of its last bit is even, so half of the exponent is an
  // integer.
  const int shift = 32 - zeros + (zeros % 2 == 0 ? 0 : 1);
  uint128 window = 0;
  for (int i = 4; i >= 1; --i) window = window << 32 | leading.word[i];
  window = window << (32 - shift) | static_cast<std::uint64_t>(leading.word[0]) >> shift;
  const bool rest = (leading.word[0] & ((std::uint64_t{1} << shift) - 1)) != 0;
  const std::uint64_t root = floor_root(window);
  const bool sticky = more || leading.sticky || rest || static_cast<uint128>(root) * root != window;
  const std::uint32_t limbs[] = {static_cast<std::uint32_t>(root), static_cast<std::uint32_t>(root >> 32)};
  return to.made_of(round_magnitude<R>(limbs, (low + 32 * leading.first + shift) / 2, sticky, to));
}

}  // namespace fanin::detail
