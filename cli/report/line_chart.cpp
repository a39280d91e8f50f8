// SPDX-License-Identifier: Apache-2.0
// Draws lines with markers over an axis of numbers or names.
#include <algorithm>

#include "cli/report/draw.hpp"

namespace fanin::cli::charts {

namespace {

struct values {
  std::vector<double> x, y;
};

values all_values(const line_chart& chart) {
  values all;
  for (const series& one : chart.all) {
    for (const auto& [x, y] : one.points) {
      all.x.push_back(x);
      all.y.push_back(y);
    }
  }
  // A linear axis begins at 0, so that heights can be compared. A logarithmic axis cannot.
  if (chart.y_scaling == scaling::linear) all.y.push_back(0);
  return all;
}

double widest_label(const scale& axis) {
  double width = 0;
  for (const tick& one : axis.ticks()) width = std::max(width, text_width(one.label));
  return width;
}

double widest_x_label(const line_chart& chart) {
  double widest = text_width("10000");
  for (const std::string& name : chart.names) widest = std::max(widest, text_width(name));
  return widest;
}

}  // namespace

double draw(const line_chart& chart, canvas& target, double y) {
  legend names(target, y);
  for (const series& one : chart.all) {
    if (!one.name.empty()) names.add_line(one.name, one.drawn);
  }
  y = names.end() + line_height / 2;
  target.text(0, y, chart.y_title, align::start, "muted");

  const values all = all_values(chart);
  const scale up(chart.y_scaling, all.y, 8);
  const double x_label = widest_x_label(chart);
  const double left = widest_label(up) + font_size / 2, right = target.width() - x_label / 2;
  const double top = y + line_height * 0.8, bottom = top + (target.width() > 500 ? 300 : 240);
  const std::size_t most = std::max<std::size_t>(static_cast<std::size_t>((right - left) / (x_label + font_size)), 2);
  const scale across = chart.names.empty() ? scale(chart.x_scaling, all.x, most) : scale(chart.names, most);
  const double inset = font_size / 2;  // Keeps the first and last markers away from the axis labels.
  const auto x_of = [&](double value) { return left + inset + across.place(value) * (right - left - 2 * inset); };
  const auto y_of = [&](double value) { return bottom - up.place(value) * (bottom - top); };

  for (const tick& one : up.ticks()) {
    target.line(left, y_of(one.at), right, y_of(one.at), "grid");
    target.text(left - font_size / 2, y_of(one.at) + 4, one.label, align::end, "muted");
  }
  for (const tick& one : across.ticks()) {
    target.line(x_of(one.at), bottom, x_of(one.at), bottom + 4, "axis");
    target.text(x_of(one.at), bottom + line_height, one.label, align::middle, "muted");
  }
  target.line(left, bottom, right, bottom, "axis");
  target.text(right, bottom + 2 * line_height, chart.x_title, align::end, "muted");

  for (const series& one : chart.all) {
    std::vector<series::point> places;
    for (const auto& [x, value] : one.points) places.push_back({x_of(x), y_of(value)});
    target.polyline(places, one.drawn);
    for (const auto& [x, height] : places) target.marker(x, height, one.drawn);
  }
  return bottom + 2.5 * line_height;
}

}  // namespace fanin::cli::charts
