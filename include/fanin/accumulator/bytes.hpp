// SPDX-License-Identifier: Apache-2.0
// Numbers as bytes in a fixed order, and a checksum of bytes. Saved states consist of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fanin::detail {

/// Writes the bytes of `value`, least significant first, and returns the position behind them.
template <class Unsigned>
std::byte* put_little_endian(Unsigned value, std::byte* out) {
  for (std::size_t i = 0; i < sizeof value; ++i) *out++ = static_cast<std::byte>(value >> (8 * i));
  return out;
}

template <class Unsigned>
Unsigned get_little_endian(const std::byte* in) {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) value |= static_cast<Unsigned>(in[i]) << (8 * i);
  return value;
}

/// The CRC-32 of ISO 3309 and of zlib. A change of one byte, or of up to 32 bits in a row, always changes the
/// CRC-32.
inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t remainder = 0xffffffff;
  for (const std::byte byte : bytes) {
    remainder ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder % 2 == 0 ? 0 : 0xedb88320);
  }
  return ~remainder;
}

}  // namespace fanin::detail
