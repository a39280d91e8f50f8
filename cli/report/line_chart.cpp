// SPDX-License-Identifier: Apache-2.0
// Draws lines or points over an axis of numbers or names.
#include <algorithm>
#include <set>

#include "cli/report/draw.hpp"
#include "cli/report/labels.hpp"

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

double widest_x_label(const line_chart& chart, const values& all) {
  double widest = text_width("10000");
  for (const std::string& name : chart.names) widest = std::max(widest, text_width(name));
  if (chart.x_scaling == scaling::lengths) {
    for (const double x : all.x) widest = std::max(widest, text_width(count_text(x)));
  }
  return widest;
}

/// A point by itself as a short line, which shows also where the style has no marker.
std::vector<series::point> visible(const std::vector<series::point>& places) {
  constexpr double half = 10;
  if (places.size() != 1) return places;
  const auto [x, y] = places.front();
  return {{x - half, y}, {x + half, y}};
}

/// Draws the legend, with one entry for each name that has points, and returns the y below.
double draw_legend(const line_chart& chart, canvas& target, double y) {
  legend names(target, y);
  std::set<std::string> drawn = {""};
  for (const series& one : chart.all) {
    if (!one.points.empty() && drawn.insert(one.name).second) names.add_line(one.name, one.drawn, one.joined);
  }
  return names.end();
}

}  // namespace

double draw(const line_chart& chart, canvas& target, double y) {
  y = draw_legend(chart, target, y) + line_height / 2;
  target.text(0, y, chart.y_title, align::start, "muted");

  const values all = all_values(chart);
  const scale up(chart.y_scaling, all.y, 8);
  const double x_label = widest_x_label(chart, all);
  const double left = widest_label(up) + 0.75 * font_size, right = target.width() - x_label / 2;
  const double top = y + line_height * 0.8, bottom = top + (target.width() > 500 ? 300 : 240);
  const std::size_t most = std::max<std::size_t>(static_cast<std::size_t>((right - left) / (x_label + font_size)), 2);
  const scale across = chart.names.empty() ? scale(chart.x_scaling, all.x, most) : scale(chart.names, most);
  const double inset = font_size / 2;  // Keeps the first and last markers away from the axis labels.
  const auto x_of = [&](double value) { return left + inset + across.place(value) * (right - left - 2 * inset); };
  const auto y_of = [&](double value) { return bottom - up.place(value) * (bottom - top); };

  for (const line_chart::region& one : chart.regions) {
    const double low = x_of(one.low) - inset, high = x_of(one.high) + inset;
    target.box(low, top, high - low, bottom - top, "band");  // Its name is below the axis, where no line is.
    target.text(low, bottom + 2 * line_height, one.name, align::start, "muted");
  }
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

  point_labels labels(target, {left, top, right, bottom});
  labels.avoid({left, bottom}, {right, bottom});
  for (const series& one : chart.all) {
    std::vector<series::point> places;
    for (const auto& [x, value] : one.points) places.push_back({x_of(x), y_of(value)});
    if (one.joined) target.polyline(visible(places), one.drawn);
    for (std::size_t i = 1; one.joined && i < places.size(); ++i) labels.avoid(places[i - 1], places[i]);
    for (const auto& [x, height] : places) target.marker(x, height, one.drawn);
    for (std::size_t i = 0; i < one.labels.size(); ++i) labels.add(places[i], one.labels[i]);
  }
  labels.draw();
  return bottom + 2.5 * line_height;
}

}  // namespace fanin::cli::charts
