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

/// `total` is a state of the recipe's accumulator, `partial` a state that a kernel returned.
struct state_functions {
  bool order_free;        ///< whether the order of elements does not matter
  std::uint64_t longest;  ///< the most elements whose state one launch can form
  void (*reset)(void* total);
  void (*merge_partial)(void* total, const void* partial);
  /// Merges the state of elements behind those of `total`.
  void (*merge)(void* total, const void* behind);
  /// Adds `by` to the position that a state has; null if it has none.
  void (*move)(void* total, std::uint64_t by);
  /// Writes the value, of type `result`, to `out`. @throws overflow
  void (*finish)(const void* total, std::uint64_t count, element_type result, void* out);
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count, element_type result);

  fanin::reproducibility reproducibility() const {
    return order_free ? reproducibility::exact : reproducibility::run_to_run;
  }
};

/// The state_functions of a recipe that devices have. `partials_are_totals`: kernels return states of the recipe's
/// own accumulator, not those of recipes.hpp. Stages and references do so for comparisons.
state_functions find_state_functions(operation what, element_type type, method how, bool partials_are_totals = false);

}  // namespace fanin::cuda
