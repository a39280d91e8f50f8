// SPDX-License-Identifier: Apache-2.0
// Results that are known up to an error, and are rounded where the error does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <fanin/catalog/elements.hpp>

namespace fanin::cpu {

/// A number between value + low - error and value + low + error. |low| is much less than |value|, unless that is 0.
struct estimate {
  double value, low, error;
};
inline constexpr estimate unknown{0, 0, std::numeric_limits<double>::infinity()};

/// Writes each estimate, rounded to the type `result`, if all its numbers round to the same one, with the same sign
/// if that is 0. Without an error the estimate is finite, and exact. Bit i of the returned number says that estimate
/// i is left.
std::uint64_t round_estimates(const estimate* found, std::size_t number, element_type result, void* out);

}  // namespace fanin::cpu
