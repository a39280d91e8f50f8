// SPDX-License-Identifier: Apache-2.0
// log(sum of e^x) in long double, with more digits than any result has.
#pragma once

#include <fanin/request.hpp>

namespace fanin::oracle {

/// How far log_sum_exp() is off at most, besides a rounding of its result. The exponentials of the C library are off
/// by two units of the last of 64 bits at most, the differences of the elements by half a unit, times log n, the sum
/// is compensated, and its logarithm is off by one unit of log n: (4 + 3 log n) 2^-64 together, with log n <= 44.
inline constexpr double log_sum_exp_error = 0x1p-56;

/// log(sum of e^x) over floats, of which one at least is finite and none is NaN or +infinity.
long double log_sum_exp(const array_view& x);

}  // namespace fanin::oracle
