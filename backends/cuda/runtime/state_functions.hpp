// SPDX-License-Identifier: Apache-2.0
// The part of a reduction on the host: merging the states that kernels return, and the value and its error bound.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::cuda {

/// A size that is not smaller than the size of any state of an accumulator or a kernel.
inline constexpr std::size_t most_state_bytes = 4352;
struct alignas(64) state_buffer {
  std::byte bytes[most_state_bytes];
};

struct state_functions {
  fanin::reproducibility reproducibility;
  std::uint64_t longest;  ///< the most elements whose state one launch can form
  /// `total` is a state of the recipe's accumulator, `partial` a state that a kernel returned.
  void (*reset)(void* total);
  void (*merge)(void* total, const void* partial);
  /// Merges `behind` into `total`. Both are states of the recipe's accumulator. The elements of `behind` follow
  /// the elements of `total`.
  void (*merge_totals)(void* total, const void* behind);
  /// Adds `by` to the position that a state has, if it has one.
  void (*move)(void* total, std::uint64_t by);
  /// Writes the value, of type `result`, to `out`. @throws overflow
  void (*finish)(const void* total, std::uint64_t count, element_type result, void* out);
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count, element_type result);
};

/// The state_functions of a recipe, or null if there is no recipe. `partials_are_totals` says that kernels return
/// states of the recipe's own accumulator, in place of the states of recipes.hpp. Stages and references do so for
/// comparisons.
const state_functions* find_state_functions(operation what, element_type type, method how,
                                            bool partials_are_totals = false);

/// The bound of a result to which `count` elements are added that are folded with the chain.
error_bound bound_of_addition(const request& request, const rounding_chain& chain, std::uint64_t count);

}  // namespace fanin::cuda
