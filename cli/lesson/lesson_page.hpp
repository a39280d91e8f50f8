// SPDX-License-Identifier: Apache-2.0
// The ladder as a page to step through.
#pragma once

#include <string>
#include <string_view>

#include "cli/lesson/stage_times.hpp"

namespace fanin::cli {

std::string_view lesson_style();
/// The script that shows one step at a time. Without it the page shows all of them.
std::string_view lesson_script();

/// A self-contained HTML file. The times are from `files`, or if there are none, from docs/ladder.md.
std::string lesson_page(const ladder_files& files);

}  // namespace fanin::cli
