// Figures as SVG.
#pragma once

#include <string>

#include "cli/report/svg.hpp"

namespace fanin::cli::charts {

/// Draws from `y` on down; returns the y at which it ends.
double draw(const line_chart& chart, canvas& target, double y);
double draw(const row_chart& chart, canvas& target, double y);

/// An <svg> to stand in a page that has chart_style(), beside the figure's title. Ids in it begin with `id`.
std::string inline_svg(const figure& one, double width, const std::string& id);
/// A file by itself, with the title and the style in it.
std::string svg_file(const figure& one);

}  // namespace fanin::cli::charts
