// SPDX-License-Identifier: Apache-2.0
// The story of a stage: its page of docs/ladder.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/lesson/markdown.hpp"
#include "cli/lesson/stage_times.hpp"

namespace fanin::cli {

/// The label in bold with which a block begins, as in "Expect."; empty if there is none.
std::string label_of(const markdown::block& one);

/// The blocks of a page, the heading first.
std::vector<markdown::block> story_of(std::string_view page);

/// The stage's number and name, as in "07 shared-mask".
std::string title_of(std::string_view stage);

/// The times in the tables of a page, which bench/lesson.py writes.
stage_times times_in(const std::vector<markdown::block>& page);

/// The story for a terminal.
std::string story_text(std::string_view stage, const terminal& screen);

}  // namespace fanin::cli
