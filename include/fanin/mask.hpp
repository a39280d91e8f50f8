// SPDX-License-Identifier: Apache-2.0
// Masks: which elements take part in a reduction.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fanin {

enum class mask_form : std::uint8_t {
  bytes,  ///< one byte for each element, which is not 0 if the element takes part; a bool is such a byte
  bits,   ///< one bit for each element, from the lowest bit of the first byte on, as in Arrow's validity bitmaps
};

/// A mask for elements that lie one after another. Without data every element takes part. Does not own the data.
struct mask_view {
  const void* data = nullptr;
  std::uint64_t first = 0;  ///< the byte or the bit of the first element
  mask_form form = mask_form::bytes;

  explicit operator bool() const noexcept { return data != nullptr; }
  /// The mask from the entry of element `count` on.
  mask_view from(std::uint64_t count) const noexcept { return {data, first + count, form}; }
};

/// Whether element i of an array with this mask in host memory takes part.
inline bool takes_part(const mask_view& mask, std::uint64_t i) noexcept {
  if (!mask) return true;
  const auto* const entries = static_cast<const unsigned char*>(mask.data);
  const std::uint64_t entry = mask.first + i;
  return mask.form == mask_form::bytes ? entries[entry] != 0 : (entries[entry / 8] >> (entry % 8) & 1) != 0;
}

/// Bits of a mask, one for each of `size` elements: bit i is bit (first + i) % 8 of byte (first + i) / 8.
struct bit_mask {
  const void* data = nullptr;
  std::size_t size = 0;
  std::uint64_t first = 0;
};

}  // namespace fanin
