// SPDX-License-Identifier: Apache-2.0
// The SIMD leaf of the exact sum, dispatched at run time to the best instruction set of this machine.
#pragma once

#include <cstddef>

#include <fanin/accumulator/exact.hpp>
#include <fanin/loop.hpp>

namespace fanin::cpu {

/// Calls into.add(x[i]) for all i < count, in effect, but faster. The state is the same on every instruction set.
/// Needs round to nearest and no flushing of subnormals.
/// Memory: up to 7 KiB of stack, used where exponents are too far apart for windows.
/// Threads: one `into` each.   Cost: one read of x; best on ranges of more than 8192 elements.
void add_exact(const float* x, std::size_t count, exact_accumulator<float>& into);
void add_exact(const double* x, std::size_t count, exact_accumulator<double>& into);

/// Adds as add_exact() does, and is best for elements that were found to be too far apart for sums in double.
void add_wide(const double* x, std::size_t count, exact_accumulator<double>& into);

/// The exact sum of each of several short arrays, rounded to double once; NaN where it is not found so: of no
/// elements, of more than 256, of infinities and NaN, and where one double holds no sum of floats, or two no sum of
/// doubles. The sum of floats is not rounded. Needs round to nearest and no flushing of subnormals.
template <class T>
void sum_short_exactly(const detail::operands* runs, const std::size_t* counts, std::size_t number, double* totals);

/// Sets `terms` to two doubles whose sum is that of x[0..count), without rounding, or returns false: for infinities,
/// NaN, and where two doubles do not hold the sum. If all x are -0, the first is -0, the second +0 or -0. `count` is
/// from 1 to longest_short_sum. Needs round to nearest and no flushing of subnormals.
bool sum_in_two(const double* x, std::size_t count, double (&terms)[2]);
inline constexpr std::size_t longest_short_sum = 256;

}  // namespace fanin::cpu
