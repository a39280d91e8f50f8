// SPDX-License-Identifier: Apache-2.0
// Quantiles of numbers in memory, without rounding but for the last step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cli {

/// A number q from 0 to 1 as it is written: numerator / denominator, which is a power of 10.
struct exact_share {
  std::string text;
  std::uint64_t numerator = 0, denominator = 1;
};
/// Parses a number as in "0.9", "1" or ".25", with at most 18 digits behind the point. @throws usage_error
exact_share parse_share(const std::string& text);

struct found_quantiles {
  std::vector<scalar> values;  ///< one for each share; of the type that the mean of the elements has
  std::uint64_t absent = 0;    ///< NaN that were left out
};

/// The quantiles of real numbers. With the n elements sorted from place 0 on, q stands for the place q (n - 1).
/// Between two places the value lies on the line through their elements; it is rounded once. -0 is below +0. A NaN
/// makes every quantile NaN, unless `nan` leaves NaN out. Two infinities of different signs have NaN between them.
/// Memory: 8 bytes for each element. Cost: a selection for each place, in O(n) on average.
/// @throws invalid_argument if no element takes part
found_quantiles quantiles(const array_view& elements, std::span<const exact_share> shares, nan_policy nan);

}  // namespace fanin::cli
