// SPDX-License-Identifier: Apache-2.0
// The end of a reduction on the host: merging states of a recipe's accumulator, and the value and its error bound.
#pragma once

#include <cstdint>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin {

/// Functions on untyped states of a recipe's accumulator.
struct state_functions {
  bool order_free;  ///< the order of elements does not change the value
  void (*reset)(void* state);
  /// Merges the state of elements behind those of `into`.
  void (*merge)(void* into, const void* behind);
  /// Adds `by` to the position that a state has; null if states have none.
  void (*move)(void* state, std::uint64_t by);
  /// Writes the value, of type `result`, to `out`. @throws overflow
  void (*finish)(const void* state, std::uint64_t count, element_type result, void* out);
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count, element_type result);
  /// The bound of a result to which `count` elements are added; null for operations that cannot.
  error_bound (*bound_of_addition)(const rounding_chain& chain, std::uint64_t count, element_type result);
};

}  // namespace fanin
