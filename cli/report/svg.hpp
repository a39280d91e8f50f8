// SPDX-License-Identifier: Apache-2.0
// The SVG elements of charts. A `look` is a class of chart_style().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/report/figure.hpp"

namespace fanin::cli::charts {

/// Escapes text for XML content and attributes. What XML cannot contain becomes '?': control characters, U+FFFE and
/// U+FFFF.
std::string escaped(std::string_view text);

/// An upper estimate of the text's width in the units of a drawing. The reader's font is unknown; few fonts are wider
/// than DejaVu Sans.
double text_width(std::string_view text);
constexpr double font_size = 13, line_height = 20;

/// The style sheet of drawings, with the colours of the light and the dark theme.
std::string_view chart_style();

enum class align : std::uint8_t { start, middle, end };

class canvas {
 public:
  explicit canvas(double width) : width_(width) {}

  void text(double x, double y, std::string_view words, align at = align::start, std::string_view look = "");
  void line(double x1, double y1, double x2, double y2, std::string_view look);
  void box(double x, double y, double width, double height, std::string_view look);
  void bar(double x, double y, double width, double height, std::size_t colour);
  void polyline(std::span<const series::point> places, const style& drawn);
  void marker(double x, double y, const style& drawn);
  /// Writes the words in as many lines as they need, and returns the y of the next line.
  double paragraph(double y, std::string_view words, std::string_view look);

  double width() const { return width_; }
  const std::string& body() const { return body_; }

 private:
  double width_;
  std::string body_;
};

/// A legend: samples of the styles with their names, in as many rows as they need.
class legend {
 public:
  legend(canvas& target, double y) : target_(target), y_(y) {}
  /// A marker, on a piece of line if `joined`.
  void add_line(std::string_view name, const style& drawn, bool joined);
  void add_bar(std::string_view name, std::size_t colour);
  /// The y below the legend.
  double end() const { return x_ > 0 ? y_ + line_height : y_; }

 private:
  /// Writes the name next to a place for a sample of width `sample`, and returns the x of that place.
  double add(std::string_view name, double sample);

  canvas& target_;
  double x_ = 0, y_;
};

}  // namespace fanin::cli::charts
