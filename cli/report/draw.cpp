// SPDX-License-Identifier: Apache-2.0
#include "cli/report/draw.hpp"

#include <fmt/format.h>

namespace fanin::cli::charts {

namespace {

std::string drawing(const figure& one, const std::string& id, double width, double height, double margin,
                    std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{5:.0f} {5:.0f} {0:.0f} {1:.0f}\" role=\"img\" "
      "class=\"chart\" "
      "aria-labelledby=\"{2}-title {2}-desc\">\n<title id=\"{2}-title\">{3}</title>\n<desc "
      "id=\"{2}-desc\">{4}</desc>\n{6}</svg>\n",
      width + 2 * margin, height + 2 * margin, id, escaped(one.title), escaped(one.summary), -margin, inside);
}

double draw_chart(const figure& one, canvas& target, double y) {
  return std::visit([&](const auto& chart) { return draw(chart, target, y); }, one.chart);
}

}  // namespace

std::string inline_svg(const figure& one, double width, const std::string& id) {
  canvas target(width);
  const double height = draw_chart(one, target, line_height);
  return drawing(one, id, width, height, 0, target.body());
}

std::string svg_file(const figure& one) {
  constexpr double width = 800;
  canvas target(width);
  const double below_title = target.paragraph(line_height, one.title, "strong");
  const double height = draw_chart(one, target, below_title + line_height / 2);
  const std::string style = fmt::format("<style>{}svg{{background:var(--paper)}}</style>\n", chart_style());
  return drawing(one, one.id, width, height, font_size, style + target.body());
}

}  // namespace fanin::cli::charts
