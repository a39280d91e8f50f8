// SPDX-License-Identifier: Apache-2.0
// Complex numbers, folded by the loops of real ones. Where these need the parts apart, other factors, or moduli, a
// block of them is written to the stack, where it stays in the L1 cache. `reals` is the arithmetic of the parts.
#pragma once

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// Folds the real parts into the state `re`, and the imaginary parts into `im`. Order does not matter. Memory: 32 KiB
/// of stack.
void fold_parts(const arithmetic& reals, const operands& data, std::size_t count, void* re, void* im);

/// Folds the products of real numbers whose sum is the real part of x y, or if `conjugated` of conj(x) y, into the
/// first state of `reals` at `state`, and those of the imaginary part into the second one. In a fixed order, which is
/// that of `whole`, the arithmetic of both states, products of the real parts of x are in even lanes, those of the
/// imaginary parts in odd lanes. Memory: 16 KiB of stack, and what fold_blocks_in_order() takes.
void fold_products(const arithmetic& whole, const arithmetic& reals, bool conjugated, const operands& data,
                   std::size_t count, void* state);

/// Folds the moduli of the elements in the fixed order. Memory: 16 KiB of stack, and what fold_blocks_in_order()
/// takes.
void fold_moduli(const arithmetic& reals, const operands& data, std::size_t count, void* state);

/// Multiplies the elements in the fixed order of `f`, whose state is a row of them. Memory: what
/// fold_blocks_in_order() takes.
void fold_factors(const arithmetic& f, const operands& data, std::size_t count, void* state);
/// Multiplies the lanes of a row by those of another.
void merge_factors(const arithmetic& f, void* into, const void* from);

}  // namespace fanin::cpu
