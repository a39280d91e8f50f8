// SPDX-License-Identifier: Apache-2.0
// Writes a report as one self-contained HTML file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report/figure.hpp"
#include "cli/report/results.hpp"

namespace fanin::cli::charts {

std::string_view page_style();

std::string html_page(const std::vector<figure>& figures, const std::vector<source>& sources);

/// The table of a figure as CSV, without control characters.
std::string csv(const figure& one);

}  // namespace fanin::cli::charts
