// SPDX-License-Identifier: Apache-2.0
// The addition of elements to the words of their groups, by the best instruction set of this machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/batch/exact_window.hpp"

namespace fanin::cpu {

/// Elements that are split together. Their words stay in the L1 cache.
inline constexpr std::size_t split_block = 128;

/// Adds x[i] to state (group[i] << copies) + i % 2^copies of `states`, for each i below `count`, which is at most
/// split_block. Elements that do not fit the window are left out. Their places are written to `misfits`, and their
/// number is returned. For moments of doubles, the constants of the squares' words 0 to 2 are added twice for each
/// element. Defined for float and double. Needs round to nearest and no flushing of subnormals.
template <exact_terms Terms, class T>
std::size_t add_split(const exact_window& window, const T* x, std::size_t count, const std::uint32_t* group,
                      unsigned copies, std::uint64_t* states, std::uint8_t* misfits);

}  // namespace fanin::cpu
