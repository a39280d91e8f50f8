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

/// Adds the magnitudes of a tile if sums in double are exact. Otherwise does nothing, and returns false: for
/// infinities and NaN, and for elements too far apart. `count` is from 1 to proven_tile. Needs round to nearest and
/// no flushing of subnormals.
bool add_magnitude_tile(const float* x, std::size_t count, exact_accumulator<float>& into);
bool add_magnitude_tile(const double* x, std::size_t count, exact_accumulator<double>& into);
/// Adds the elements of a tile, or their magnitudes, by sums of floats as add_magnitude_tile() does. Returns false if
/// all elements are -0, too.
bool add_narrow_tile(const f16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into);
bool add_narrow_tile(const bf16* x, std::size_t count, bool magnitudes, exact_accumulator<float>& into);

/// Writes sums in double of each of several arrays, and returns whether no sum was rounded. No array is empty.
/// `type` is f16 or bf16. Infinities and NaN make a sum infinite or NaN, and without AVX-512 no sum is then known to
/// be exact. Needs fused multiply-adds, round to nearest and no flushing of subnormals. The sums are
/// - for elements and magnitudes, `sums`;
/// - for squares, `squares`;
/// - for deviations, `sums` of the distances x[i] - x[0], and `squares` of the distances.
bool sum_narrow_runs(summand adds, element_type type, const detail::operands* runs, const std::size_t* counts,
                     std::size_t number, double* sums, double* squares);

/// Writes the magnitudes of the elements, and numbers behind them up to a multiple of 64 bytes.
void write_magnitudes(const float* x, std::size_t count, float* out);
void write_magnitudes(const double* x, std::size_t count, double* out);

/// Adds as add_exact() does, and is best for elements that were found to be too far apart for sums in double.
void add_wide(const double* x, std::size_t count, exact_accumulator<double>& into);

/// Writes the exact sum of each of several short arrays to `totals`. A sum of floats is exact, and a sum of
/// doubles is rounded once. Needs round to nearest and no flushing of subnormals. A total is NaN if the sum is not
/// found in this way:
/// - for no elements, and for more than proven_tile;
/// - for infinities and NaN, and for some sums of 0;
/// - if one double cannot hold the sum of floats, or if two doubles cannot hold the sum of doubles.
template <class T>
void sum_short_exactly(const detail::operands* runs, const std::size_t* counts, std::size_t number, double* totals);

/// Writes the exact results of `what`, rounded once, for most of several short arrays. Bit i of the returned number
/// says that array i is left. `what` is an operation on one input that has the method exact. `result` is the type of
/// the results. Arrays are left
/// - if they are longer than 4096 elements, or without elements;
/// - if an element is infinite or NaN, if doubles may overflow, or if a result is too near to the middle of two
/// numbers;
/// - if T is float and `result` is f64, unless `what` is a sum; all of them without fused multiply-adds.
template <class T>
std::uint64_t round_each(operation what, const detail::operands* runs, const std::size_t* counts, std::size_t number,
                         element_type result, void* out);
/// Acts as round_each() for f16 or bf16. Sums and means of elements are left too if a sum in double rounds, and
/// without AVX-512 those of all arrays if one of them may have rounded. Results of type f64 are not left otherwise.
std::uint64_t round_each_narrow(operation what, element_type type, const detail::operands* runs,
                                const std::size_t* counts, std::size_t number, element_type result, void* out);

/// Sets `terms` to two doubles whose sum is the exact sum of x[0..count). Returns false for infinities and NaN,
/// and if two doubles cannot hold the sum. If all x are -0, the first term is -0, and the second +0 or -0. `count`
/// is from 1 to longest_short_sum. Needs round to nearest and no flushing of subnormals.
bool sum_in_two(const double* x, std::size_t count, double (&terms)[2]);
inline constexpr std::size_t longest_short_sum = 256;

}  // namespace fanin::cpu
