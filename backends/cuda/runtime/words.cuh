// SPDX-License-Identifier: Apache-2.0
// Words whose size is known at run time.
#pragma once

#include <cstdint>

namespace fanin::cuda {

/// Reads word i of memory that consists of words of that size.
inline __device__ std::uint64_t load_word(const void* words, unsigned bytes, std::uint64_t i) {
  switch (bytes) {
    case 1:
      return static_cast<const std::uint8_t*>(words)[i];
    case 2:
      return static_cast<const std::uint16_t*>(words)[i];
    case 4:
      return static_cast<const std::uint32_t*>(words)[i];
    default:
      return static_cast<const std::uint64_t*>(words)[i];
  }
}
inline __device__ void store_word(void* words, unsigned bytes, std::uint64_t i, std::uint64_t word) {
  switch (bytes) {
    case 1:
      static_cast<std::uint8_t*>(words)[i] = static_cast<std::uint8_t>(word);
      break;
    case 2:
      static_cast<std::uint16_t*>(words)[i] = static_cast<std::uint16_t>(word);
      break;
    case 4:
      static_cast<std::uint32_t*>(words)[i] = static_cast<std::uint32_t>(word);
      break;
    default:
      static_cast<std::uint64_t*>(words)[i] = word;
  }
}

}  // namespace fanin::cuda
