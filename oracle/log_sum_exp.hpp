// SPDX-License-Identifier: Apache-2.0
// log(sum of e^x) in long double, with more digits than any result has.
#pragma once

#include <fanin/request.hpp>

namespace fanin::oracle {

/// The largest error of log_sum_exp(), without the rounding of its result. Units are of the last of 64 bits. The
/// exponentials of the C library are off by at most two units. The differences of the elements are off by half a
/// unit, times log n. A term that stands for equal elements is off by half a unit more, and the terms that are left
/// out add up to at most one unit. The sum is compensated, and its logarithm is off by one unit of log n. Together
/// this is (6 + 3 log n) 2^-64, with log n <= 44.
inline constexpr double log_sum_exp_error = 0x1p-56;

/// log(sum of e^x) over floats. At least one float is finite, and none is NaN or +infinity.
long double log_sum_exp(const array_view& x);

}  // namespace fanin::oracle
