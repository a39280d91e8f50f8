// SPDX-License-Identifier: Apache-2.0
// Draws rows of bars or dots over one axis of numbers.
#include <algorithm>

#include "cli/report/draw.hpp"

namespace fanin::cli::charts {

namespace {

std::vector<double> all_values(const row_chart& chart) {
  std::vector<double> all = {0, chart.reference - chart.band, chart.reference + chart.band};
  for (const row_chart::row& one : chart.rows) all.insert(all.end(), one.values.begin(), one.values.end());
  return all;
}

/// The positions of the columns. On a narrow canvas, long labels stand above their rows.
struct columns {
  double left = 0, right;
  bool labels_above;

  columns(const row_chart& chart, double width) : right(width) {
    double notes = 0;
    for (const row_chart::row& one : chart.rows) {
      left = std::max(left, text_width(one.label) + font_size);
      notes = std::max(notes, text_width(one.note));
    }
    labels_above = left > 0.45 * width;
    if (labels_above) left = text_width("0") / 2;
    right -= std::max(notes, text_width("1000") / 2) + font_size;
    right = std::max(right, left + 0.1 * width);  // Where notes are too long for the canvas, they cover the rows.
  }
};

}  // namespace

double draw(const row_chart& chart, canvas& target, double y) {
  if (!chart.keys.empty()) {
    legend names(target, y);
    for (const auto& [name, colour] : chart.keys) names.add_bar(name, colour);
    y = names.end() + line_height / 2;
  }
  const columns at(chart, target.width());
  const scale across(scaling::linear, all_values(chart),
                     static_cast<std::size_t>(std::max((at.right - at.left) / 70, 2.0)));
  const auto x_of = [&](double value) { return at.left + across.place(value) * (at.right - at.left); };

  constexpr double row_height = 22, group_gap = 6;
  const double top = y + line_height / 2;
  double bottom = top;
  std::vector<double> middles;
  for (const row_chart::row& one : chart.rows) {
    if (!one.label.empty()) bottom += group_gap + (at.labels_above ? line_height : 0);
    middles.push_back(bottom + row_height / 2);
    bottom += row_height;
  }

  const double reference_x = x_of(chart.reference), name_half = text_width(chart.reference_name) / 2;
  target.text(std::clamp(reference_x, name_half, target.width() - name_half), y, chart.reference_name, align::middle,
              "strong");
  if (chart.band > 0) {
    const double low = x_of(chart.reference - chart.band), high = x_of(chart.reference + chart.band);
    target.box(low, top, high - low, bottom - top, "band");
  }
  for (const tick& one : across.ticks()) {
    target.line(x_of(one.at), top, x_of(one.at), bottom, one.at == 0 ? "axis" : "grid");
    target.text(x_of(one.at), bottom + line_height, one.label, align::middle, "muted");
  }

  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    for (const double value : chart.rows[i].values) {
      if (chart.bars) {
        target.bar(x_of(0), middles[i] - 8, x_of(value) - x_of(0), 16, chart.rows[i].colour);
      } else {
        target.marker(x_of(value), middles[i], {chart.rows[i].colour, style::look::hollow});
      }
    }
  }
  target.line(reference_x, top, reference_x, bottom, "reference");
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    const auto& [label, note, colour, values] = chart.rows[i];
    if (at.labels_above) {
      target.text(at.left + 4, middles[i] - line_height * 0.75, label, align::start, "label");
    } else {
      const bool heads_others = values.empty() && note.empty();
      target.text(0, middles[i] + 4, label, align::start, heads_others ? "strong" : "");
    }
    target.text(target.width(), middles[i] + 4, note, align::end);
  }
  const double title_right = std::min(std::max(at.right, text_width(chart.x_title)), target.width());
  target.text(title_right, bottom + 2 * line_height, chart.x_title, align::end, "muted");
  return bottom + 2.5 * line_height;
}

}  // namespace fanin::cli::charts
