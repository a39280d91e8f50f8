// SPDX-License-Identifier: Apache-2.0
// The numbers of groups, in as few bits as they need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fanin/catalog.hpp>
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
/// Whether numbers of groups fit into 16 bits.
inline bool fits_short_keys(std::size_t groups) { return groups < (std::size_t{1} << 16); }

/// Keys from this one on, as unsigned numbers, are of no group. For a negative key this number has its highest bit.
inline std::uint32_t first_key_of_no_group(element_type keys, std::uint32_t groups) {
  const bool is_signed = is_signed_integer(keys);
  const std::uint64_t end = std::uint64_t{1}
                            << (std::min<std::size_t>(8 * byte_size(keys), 33) - (is_signed ? 1 : 0));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(groups, end));
}

}  // namespace fanin::cuda
