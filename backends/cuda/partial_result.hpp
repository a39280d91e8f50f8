// SPDX-License-Identifier: Apache-2.0
// Makes the result, and the promises about it, from a fold of elements.
#pragma once

#include "backends/cuda/runtime/kernel_launcher.hpp"

namespace fanin::cuda {

/// The fold that gpu_backend::prepare() found.
inline const kernel_launcher& prepared_launcher(const request& request) {
  return *static_cast<const kernel_launcher*>(request.prepared);
}

/// The facts about folded elements that the host has.
struct partial_result {
  state_buffer total;    ///< a state of the recipe's accumulator
  rounding_chain chain;  ///< the longest through which an element went
  std::uint64_t count = 0;
  std::uint64_t present = 0;  ///< elements that take part
  /// Elements of the state, with stand-ins: none of a part in which none takes part, unless ones stand for them.
  std::uint64_t held = 0;

  /// The state has the elements behind the first `left_out` of `count_`. `present_` of these take part, and
  /// `absent` stands for the others.
  void set_counts(const state_functions& fold, stand_in absent, std::uint64_t count_, std::uint64_t present_,
                  std::uint64_t left_out);
  /// Merges the elements that come after these. Their positions, which began with 0, go on from these in `next`,
  /// whose state is unspecified then.
  void append(const state_functions& fold, partial_result& next);
};

/// Writes the request's result, and returns its guarantees. The state is unspecified then.
/// @throws invalid_argument if the operation has no value for so few elements; overflow
outcome finished(const request& request, partial_result& all, void* result);

}  // namespace fanin::cuda
