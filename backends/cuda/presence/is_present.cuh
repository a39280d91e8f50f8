// SPDX-License-Identifier: Apache-2.0
// Whether an element takes part in a reduction.
#pragma once

#include <cstdint>

#include <fanin/mask.hpp>

namespace fanin::cuda {

/// Whether a floating-point number, given as its bits, is at most presence_rule::largest_number, so no NaN to leave
/// out.
template <class Word>
__device__ bool is_at_most(Word bits, Word largest_number) {
  return (bits & static_cast<Word>(~Word{0}) >> 1) <= largest_number;
}

/// Whether entry i of a mask is set. Without a mask every entry is.
__device__ inline bool is_in_mask(const mask_view& mask, std::uint64_t i) {
  if (mask.data == nullptr) return true;
  const auto* const entries = static_cast<const std::uint8_t*>(mask.data);
  const std::uint64_t place = mask.first + i;
  return mask.form == mask_form::bytes ? entries[place] != 0 : (entries[place / 8] >> place % 8 & 1) != 0;
}

}  // namespace fanin::cuda
