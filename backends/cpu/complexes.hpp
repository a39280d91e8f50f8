// SPDX-License-Identifier: Apache-2.0
// Complex numbers, folded by the loops of real ones. Where these need the parts apart, other factors, or moduli, a
// block of them is written to the stack, where it stays in the L1 cache. `reals` is the arithmetic of the parts.
#pragma once

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// Folds the real parts into the state `re`, and the imaginary parts into `im`. Order does not matter. Memory: 32 KiB
/// of stack.
void fold_parts(const arithmetic& reals, const operands& data, std::size_t count, void* re, void* im);

/// Folds products of real numbers into two states of `reals` at `state`. The first state is for the real part of x
/// y, or if `conjugated`, of conj(x) y. The second state is for the imaginary part. `whole` is the arithmetic of
/// both states. If it has a fixed order, products with real parts of x are in even states of a row, and products
/// with imaginary parts of x in odd states. Memory: 16 KiB of stack, and the memory of fold_blocks_in_order().
void fold_products(const arithmetic& whole, const arithmetic& reals, bool conjugated, const operands& data,
                   std::size_t count, void* state);

/// Folds the moduli of the elements in the fixed order. Memory: 16 KiB of stack, and what fold_blocks_in_order()
/// takes.
void fold_moduli(const arithmetic& reals, const operands& data, std::size_t count, void* state);

/// Multiplies the elements in the fixed order of `f`, whose state is a row of them. Memory: what
/// fold_blocks_in_order() takes.
void fold_factors(const arithmetic& f, const operands& data, std::size_t count, void* state);
/// Multiplies each number of a row by the number at the same place of another row.
void merge_factors(const arithmetic& f, void* into, const void* from);

}  // namespace fanin::cpu
