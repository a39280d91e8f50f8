// SPDX-License-Identifier: Apache-2.0
// The table of recipes: what the host does with each of them, behind function pointers over untyped states.
#pragma once

#include <fanin/lanes.hpp>

#include "backends/cpu/batch/columns.hpp"
#include "backends/cpu/batch/keyed_addition.hpp"
#include "backends/cpu/fold.hpp"

namespace fanin {

/// States of an accumulator as lanes (fanin/accumulator/lanes.hpp).
struct lane_functions {
  lane_format format;
  std::size_t state_bytes;
  void (*write)(const void* state, std::int64_t* out);
  void (*read)(const std::int64_t* lanes, void* state);
};

/// Functions on single states of an accumulator whose loops on CPUs have a row of them, because order matters.
struct single_state_functions {
  std::size_t state_bytes;
  void (*reset)(void* state);
  /// Adds the elements one after another.
  void (*accumulate)(const cpu::operands& data, std::size_t count, void* state);
  void (*merge)(void* into, const void* behind);
};

struct recipe_functions {
  /// The loops of CPU backends over one array.
  cpu::arithmetic arithmetic;
  /// The loops for a request that adds to results; null for operations that cannot. Its finish(), whose count is not
  /// 0, reads the earlier result where it writes the new one; its reduce() is null.
  const cpu::arithmetic* addition = nullptr;
  /// The loops over columns side by side; null where columns are copied to rows: of large states, two inputs, and
  /// some types.
  const cpu::column_functions* columns = nullptr;
  /// The addition of the terms of elements to the states of their groups; null where elements are sorted by key
  /// instead.
  const cpu::keyed_addition* keyed = nullptr;
  cpu::term_rule terms{};
  /// Null where order does not matter: the functions of `arithmetic` take single states.
  const single_state_functions* single = nullptr;
  /// The finish() of `arithmetic` and of `addition` for single states.
  void (*finish_single)(const void* state, std::uint64_t count, element_type result, void* out) = nullptr;
  void (*add_single)(const void* state, std::uint64_t count, element_type result, void* out) = nullptr;
  /// Adds `by` to the position that a single state has; null if it has none.
  void (*move)(void* state, std::uint64_t by) = nullptr;
  /// The single states as lanes; null unless partial results merge without rounding.
  const lane_functions* lanes = nullptr;
  /// Writes the value of a sum's short words rounded once; null where that is not the value.
  void (*round_short_words)(const std::int64_t* words, element_type result, void* out) = nullptr;
};

/// The functions of a recipe, or null if there is none.
const recipe_functions* find_functions(operation what, element_type type, method how);

/// The functions for groups on a CPU. A single sum of squares of doubles needs low parts, so that `fast` variances of
/// groups of f64 are the compensated ones.
const recipe_functions& functions_of_groups(const request& request);

}  // namespace fanin
