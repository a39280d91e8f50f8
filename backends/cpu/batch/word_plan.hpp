// SPDX-License-Identifier: Apache-2.0
// Which loops over columns of words serve an operation and a type.
#pragma once

#include <optional>
#include <span>

#include <fanin/request.hpp>

#include "backends/cpu/batch/word_loops.hpp"

namespace fanin::cpu {

/// Squares of distances from the mean have two steps, a sum and a sum of squares. Other operations have one.
struct word_plan {
  struct step {
    word_kernel kernel;
    word_rule rule;
    const word_loops* loops;
  };
  step steps[2];
  std::size_t count;  ///< of steps
  element_type type;

  std::span<const step> all() const noexcept { return {steps, count}; }
  /// The wide numbers of a column, of all steps.
  std::size_t outputs() const noexcept;
};

/// The plan for a request whose results have their default type, and are not added to others.
std::optional<word_plan> word_plan_for(const request& request);

}  // namespace fanin::cpu
