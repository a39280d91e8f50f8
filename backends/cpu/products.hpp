// SPDX-License-Identifier: Apache-2.0
// The SIMD leaves of exact sums of squares and dot products, dispatched at run time to the best instruction set of
// this machine.
#pragma once

#include <cstddef>

#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/moments.hpp>

namespace fanin::cpu {

/// Calls into.add(x[i]) for all i < count, in effect, but faster. The state is the same on every instruction set.
/// Needs round to nearest and no flushing of subnormals. Defined for float and double.
/// Memory: 16 KiB of stack beside what add_exact takes.   Threads: one `into` each.   Cost: one read of x.
template <class T>
void add_squares(const T* x, std::size_t count, exact_square_accumulator<T>& into);

/// Adds the elements and their squares, as add_squares() adds squares.
template <class T>
void add_moments(const T* x, std::size_t count, exact_moments_accumulator<T>& into);

/// Adds the products x[i] * y[i], as add_squares() adds squares.
template <class T>
void add_products(const T* x, const T* y, std::size_t count, exact_dot_accumulator<T>& into);

}  // namespace fanin::cpu
