// SPDX-License-Identifier: Apache-2.0
// The content of charts, independent of how they are drawn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cli/kit/table.hpp"
#include "cli/report/scale.hpp"

namespace fanin::cli::charts {

/// Each colour has a marker of its own, so that series can be told apart by either.
struct style {
  static constexpr std::size_t colours = 6;
  enum class look : std::uint8_t { filled, hollow, dashed, dotted };  ///< dashed and dotted lines have no markers

  std::size_t colour = 0;  ///< the value `colours` is the colour of text
  look how = look::filled;
  bool operator==(const style&) const = default;
};

struct series {
  struct point {
    double x, y;
  };
  std::string name;  ///< a series with an empty name is not in the legend; a name is there once
  style drawn;
  std::vector<point> points;
  bool joined = true;                 ///< a line joins the points
  std::vector<std::string> labels{};  ///< texts at the points, if there are any
};

/// Lines or points over an axis of numbers. If `names` is not empty, the axis shows the names, and x is an index of
/// `names`.
struct line_chart {
  /// A shaded part of the axis of x.
  struct region {
    double low, high;
    std::string name;
  };
  std::string x_title, y_title;
  scaling x_scaling, y_scaling;
  std::vector<std::string> names;
  std::vector<series> all;
  std::vector<region> regions{};
};

/// Rows that each have a bar from 0, or dots.
struct row_chart {
  struct row {
    std::string label, note;  ///< texts left and right; an empty label means the label of the row above
    std::size_t colour;
    std::vector<double> values;  ///< empty if the row was not measured; a row without a note too is a heading
  };
  struct key {
    std::string name;
    std::size_t colour;
  };
  std::string x_title;
  bool bars;
  double reference;  ///< position of a line across all rows
  std::string reference_name;
  double band;  ///< half width of the shaded band around the reference; 0 for no band
  std::vector<key> keys{};
  std::vector<row> rows{};

  /// Adds an entry to the legend, unless its colour has one.
  void add_key(const std::string& name, std::size_t colour) {
    const auto has = [&](const key& one) { return one.colour == colour; };
    if (std::ranges::none_of(keys, has)) keys.push_back({name, colour});
  }
};

struct figure {
  std::string kind, id;        ///< as in "ladder" and "ladder-sum-f32"; an id is unique in a report
  std::string title, summary;  ///< the title, and a description of the chart for screen readers
  std::variant<line_chart, row_chart> chart;
  std::vector<table_row> table;  ///< the first row is the heading
};

}  // namespace fanin::cli::charts
