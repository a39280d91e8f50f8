// SPDX-License-Identifier: Apache-2.0
// The results of columns of words.
#pragma once

#include "backends/cpu/batch/results.hpp"
#include "backends/cpu/batch/word_plan.hpp"

namespace fanin::cpu {

/// Writes the results first, first + distance, ... of columns of `count` elements. `wide` has the wide numbers of the
/// columns, of one step of the plan after the other.
void finish_words(const word_plan& plan, const std::uint64_t* wide, std::size_t columns, std::uint64_t count,
                  batch_results& results, std::size_t first, std::size_t distance);

}  // namespace fanin::cpu
