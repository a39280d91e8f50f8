// SPDX-License-Identifier: Apache-2.0
// The story of a stage: its page of docs/ladder.md.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/lesson/markdown.hpp"
#include "cli/lesson/stage_times.hpp"

namespace fanin::cli {

/// The label in bold with which a block begins, as in "Counter."; empty if there is none.
std::string label_of(const markdown::block& one);

/// The profiler's counters that the block names, and what they tell.
std::vector<std::pair<std::string, std::string>> counters_in(const markdown::block& one);

/// The blocks of the stage's page, the heading first.
std::vector<markdown::block> story_of(std::string_view stage);

/// The story for a terminal. The measured times are a table.
std::string story_text(std::string_view stage, const terminal& screen);

}  // namespace fanin::cli
