// SPDX-License-Identifier: Apache-2.0
// The numbers of groups, in as few bits as they need.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/compiler.hpp>
#include <fanin/elements.hpp>

namespace fanin::cuda {

/// The number of the group of each key, and for keys of no group the number of groups, in 16 or 32 bits.
struct group_numbers {
  void* data;
  bool is_short;
  FANIN_HOST_DEVICE std::uint32_t operator()(std::uint64_t i) const {
    return is_short ? static_cast<const std::uint16_t*>(data)[i] : static_cast<const std::uint32_t*>(data)[i];
  }
  FANIN_HOST_DEVICE void set(std::uint64_t i, std::uint32_t group) const {
    if (is_short) {
      static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(group);
    } else {
      static_cast<std::uint32_t*>(data)[i] = group;
    }
  }
};
/// Whether numbers of groups fit into 16 bits.
inline bool fits_short_keys(std::size_t groups) { return groups < (std::size_t{1} << 16); }

/// Keys from this one on, as unsigned numbers, are of no group. A negative key of 32 bits is at least 2^31.
inline std::uint32_t first_key_of_no_group(element_type keys, std::uint32_t groups) {
  constexpr std::uint32_t negative = std::uint32_t{1} << 31;
  return keys == element_type::i32 && groups > negative ? negative : groups;
}

}  // namespace fanin::cuda
