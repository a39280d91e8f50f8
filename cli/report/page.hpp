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

/// The page: the summary of the results, and the figures in sections that fold. There is no JavaScript: a section
/// that folds is a <details>, and the style sheet opens it for print.
std::string html_page(const results& all, const std::vector<figure>& figures);

/// The table of a figure as CSV, without control characters.
std::string csv(const figure& one);

}  // namespace fanin::cli::charts
