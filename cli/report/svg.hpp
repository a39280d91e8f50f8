// The few shapes that charts are made of, as SVG. Looks are classes of chart_style().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/report/figure.hpp"

namespace fanin::cli::charts {

/// Text between tags or in an attribute. Control characters, which XML cannot hold, become '?'.
std::string escaped(std::string_view text);

/// An upper estimate, in the units of a drawing. The reader's font is not known; few are wider than DejaVu Sans.
double text_width(std::string_view text);
constexpr double font_size = 13, line_height = 20;

/// The colours, in both themes, and what the classes of a drawing look like.
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
  /// Words in as many lines as they need. Returns the y of the line after them.
  double paragraph(double y, std::string_view words, std::string_view look);

  double width() const { return width_; }
  const std::string& body() const { return body_; }

 private:
  double width_;
  std::string body_;
};

/// Samples of what is drawn with their names, in as many rows as they need.
class legend {
 public:
  legend(canvas& target, double y) : target_(target), y_(y) {}
  void add_line(std::string_view name, const style& drawn);
  void add_bar(std::string_view name, std::size_t colour);
  /// The y below it all.
  double end() const { return x_ > 0 ? y_ + line_height : y_; }

 private:
  /// Finds the place for a sample of that width, and writes the name beside it. Returns the sample's x.
  double add(std::string_view name, double sample);

  canvas& target_;
  double x_ = 0, y_;
};

}  // namespace fanin::cli::charts
