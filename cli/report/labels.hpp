// SPDX-License-Identifier: Apache-2.0
// Texts at the points of a chart, placed so that they cover neither each other nor a point.
#pragma once

#include <string>
#include <vector>

#include "cli/report/svg.hpp"

namespace fanin::cli::charts {

struct rectangle {
  double left, top, right, bottom;
};

class point_labels {
 public:
  /// The labels stay inside of `plot`.
  point_labels(canvas& target, const rectangle& plot) : target_(target), plot_(plot) {}
  void add(const series::point& at, const std::string& words);
  /// Keeps the labels away from a line between two points.
  void avoid(const series::point& from, const series::point& to);
  /// Draws all labels. A label that fits nowhere is left out; the chart's table has its name.
  void draw();

 private:
  struct label {
    series::point at;
    std::string words;
  };
  bool is_free(const rectangle& place) const;

  canvas& target_;
  rectangle plot_;
  std::vector<label> all_;
  std::vector<rectangle> taken_;
};

}  // namespace fanin::cli::charts
