// SPDX-License-Identifier: Apache-2.0
// Square roots of multi-word integers, rounded once.
#pragma once

#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::detail {

/// floor(sqrt(x)), bit by bit.
FANIN_HOST_DEVICE inline std::uint64_t floor_root(uint128 x) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
    const std::uint64_t larger = root | bit;
    if (static_cast<uint128>(larger) * larger <= x) root = larger;
  }
  return root;
}

/// The square root of sum(word[i] * 2^(low + 32 i)), low even, rounded once to R. Zero gives +0.
/// The root of the leading 127 or 128 bits has 64 bits. The rounding also needs to know whether a remainder or any
/// other bit is left.
template <class R, int Count>
FANIN_HOST_DEVICE R rounded_root(const std::uint32_t (&word)[Count], int low) {
  int top = Count - 1;
  while (top > 0 && word[top] == 0) --top;
  if (word[top] == 0) return 0;
  int leading = 32 * top + 31;
  while (word[top] >> leading % 32 == 0) --leading;

  const int last = leading / 2 * 2 - 126;  // index of the window's last bit; even, so that 2^last has a root
  const auto bit = [&](int i) { return i >= 0 && (word[i / 32] >> i % 32 & 1) != 0; };
  uint128 window = 0;
  for (int i = leading; i >= last; --i) window = window << 1 | (bit(i) ? 1 : 0);
  const std::uint64_t root = floor_root(window);
  bool sticky = static_cast<uint128>(root) * root != window;
  for (int i = 0; i < last && !sticky; ++i) sticky = bit(i);

  // The array has as many words as the square, so that it contains the bit of the smallest subnormal of a narrow R.
  const std::uint32_t limbs[Count] = {static_cast<std::uint32_t>(root), static_cast<std::uint32_t>(root >> 32)};
  return from_bits<R>(round_magnitude<R>(limbs, (low + last) / 2, sticky));
}

}  // namespace fanin::detail
