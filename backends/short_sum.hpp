// SPDX-License-Identifier: Apache-2.0
// Exact sums of short arrays without an exact accumulator.
#pragma once

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::detail {

/// Sets `terms` to two numbers whose sum is the exact sum of the doubles. If all doubles are -0, the first term is
/// -0 and the second a zero. Returns false, and sets nothing, in these cases:
/// - the elements are of another type, or there are none, or more than 256;
/// - with the options another backend than `serial` may be chosen, or none;
/// - two doubles cannot hold the sum.
/// @throws as reduce() if the data is null
bool short_exact_sum(const input_views& inputs, const options& chosen, double (&terms)[2], report& done);

}  // namespace fanin::detail
