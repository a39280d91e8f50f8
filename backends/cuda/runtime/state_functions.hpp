// SPDX-License-Identifier: Apache-2.0
// The part of a reduction on the host: merging the states that kernels return, and the value and its error bound.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/state_functions.hpp"

namespace fanin::cuda {

/// At least the size of any state, of an accumulator or a kernel.
inline constexpr std::size_t most_state_bytes = 4352;
struct alignas(64) state_buffer {
  std::byte bytes[most_state_bytes];
};

/// The functions on states of the recipe's accumulator, and what the host does with the states that kernels return.
struct state_functions : fanin::state_functions {
  std::uint64_t longest;  ///< the most elements whose state one launch can form
  /// Merges a state that a kernel returned into `total`, a state of the recipe's accumulator.
  void (*merge_partial)(void* total, const void* partial);

  fanin::reproducibility reproducibility() const {
    return order_free ? reproducibility::exact : reproducibility::run_to_run;
  }
};

/// The state_functions of a recipe that devices have. `partials_are_totals`: kernels return states of the recipe's
/// own accumulator, not those of recipes.hpp. Stages and references do so for comparisons.
state_functions find_state_functions(operation what, element_type type, method how, bool partials_are_totals = false);

}  // namespace fanin::cuda
