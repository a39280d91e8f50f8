// SPDX-License-Identifier: Apache-2.0
// Elements as words that are moved, whatever their values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fanin::cpu {

/// Returns f(word), where a word has the size of an element.
template <class F>
void with_word(std::size_t element_bytes, const F& f) {
  switch (element_bytes) {
    case 1:
      return f(std::uint8_t());
    case 2:
      return f(std::uint16_t());
    case 4:
      return f(std::uint32_t());
    case 8:
      return f(std::uint64_t());
    case 16:
      return f(std::array<std::uint64_t, 2>());
  }
}

}  // namespace fanin::cpu
