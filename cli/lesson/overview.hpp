// SPDX-License-Identifier: Apache-2.0
// The whole ladder at a glance: which stage builds on which, and what each of them gains.
#pragma once

#include <string>
#include <vector>

#include "cli/lesson/stage_times.hpp"

namespace fanin::cli {

/// A stage of the overview.
struct overview_row {
  std::string_view stage, builds_on;
  std::string title;  ///< as in "07 shared-mask"
  stage_times times;
};

/// A picture in which each stage is joined with the stage that it builds on. The stages are links.
std::string html_of_map(const std::vector<overview_row>& stages);
/// For each device a chart of the speeds.
std::string html_of_charts(const std::vector<overview_row>& stages);
/// A table of times and gains, with a row for each stage.
std::string html_of_gains(const std::vector<overview_row>& stages);

/// A table of all times of a stage.
std::string html_of_times(const stage_times& times);

}  // namespace fanin::cli
