// SPDX-License-Identifier: Apache-2.0
// Exact sums of short arrays without an exact accumulator.
#pragma once

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::detail {

/// Sets `terms` to two numbers whose sum is that of the doubles, without rounding; of -0 alone, the first is -0 and
/// the second a zero. Returns false and sets nothing where that is not found fast: for other elements, for none or
/// more than 256, for options with which another backend than `serial` may be chosen, or none, and where two doubles
/// do not hold the sum. @throws as reduce() if the data is null
bool short_exact_sum(const input_views& inputs, const options& chosen, double (&terms)[2], report& done);

}  // namespace fanin::detail
