// SPDX-License-Identifier: Apache-2.0
// Reductions of elements that are in memory as a whole. These are reductions of two inputs and of mapped inputs,
// and reductions that need all elements at once, by some variants and on several devices.
#pragma once

#include <span>
#include <vector>

#include "cli/exact_state.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

/// The reduction of `views`, which `done` describes but for the number of elements, the result and the time.
/// @throws as reduce(); errors of the elements name the inputs
finished_reduction reduce_loaded(operation what, const input_views& views, const options& asked,
                                 finished_reduction done);

/// The statistics of the first column of an input, then the statistics of the second column, ... Adds the elements
/// of a single column to `state`, unless it is null.
std::vector<finished_reduction> reduce_columns(std::span<const statistic> statistics, source& input,
                                               const options& chosen, exact_state* state);

}  // namespace fanin::cli
