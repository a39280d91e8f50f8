// SPDX-License-Identifier: Apache-2.0
// Bins of neighbouring groups.
#pragma once

#include <cstdint>

#include <fanin/compiler.hpp>

namespace fanin::cuda {

/// Which groups are in which of `count` bins: each has `units` times 2^unit_bits, but for the last.
struct bin_map {
  static constexpr int unit_bits = 11;
  static constexpr std::uint32_t most_groups = 1u << 22, most_units = 16;
  std::uint32_t count, units;
  std::uint32_t reciprocal;  ///< floor(2^16 / units) + 1

  FANIN_HOST_DEVICE std::uint32_t groups_of_bin() const { return units << unit_bits; }
  /// The quotient of a number of units and `units`, which is right because their product is below 2^16.
  FANIN_HOST_DEVICE std::uint32_t bin_of(std::uint32_t group) const {
    static_assert((most_groups >> unit_bits) * most_units < 1u << 16);
    return (group >> unit_bits) * reciprocal >> 16;
  }
};

}  // namespace fanin::cuda
