// SPDX-License-Identifier: Apache-2.0
// Draws figures as SVG.
#pragma once

#include <string>

#include "cli/report/svg.hpp"

namespace fanin::cli::charts {

/// Draws the chart below `y` and returns the y of its lower end.
double draw(const line_chart& chart, canvas& target, double y);
double draw(const row_chart& chart, canvas& target, double y);

/// An <svg> element for a page that contains chart_style() and shows the figure's title. Its ids begin with `id`.
std::string inline_svg(const figure& one, double width, const std::string& id);
/// A complete SVG file, which contains the title and the style.
std::string svg_file(const figure& one);

}  // namespace fanin::cli::charts
