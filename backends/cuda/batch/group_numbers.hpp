// SPDX-License-Identifier: Apache-2.0
// The numbers of groups, in as few bits as they need.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/compiler.hpp>

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
/// Whether 16 bits hold the numbers of so many groups.
inline bool fits_short_keys(std::size_t groups) { return groups < (std::size_t{1} << 16); }

}  // namespace fanin::cuda
