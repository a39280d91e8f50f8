// What a chart shows, before anybody draws it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cli/kit/table.hpp"
#include "cli/report/scale.hpp"

namespace fanin::cli::charts {

/// Colour and marker go together, so that neither is needed to tell two series apart.
struct style {
  static constexpr std::size_t colours = 6;
  enum class look : std::uint8_t { filled, hollow, dashed, dotted };  ///< the last two have no markers

  std::size_t colour = 0;  ///< `colours` is that of the text
  look how = look::filled;
  bool operator==(const style&) const = default;
};

struct series {
  struct point {
    double x, y;
  };
  std::string name;  ///< empty: not in the legend
  style drawn;
  std::vector<point> points;
};

/// Lines over numbers, or over things in order if they have names: then x is a place in `names`, from 0.
struct line_chart {
  std::string x_title, y_title;
  scaling x_scaling, y_scaling;
  std::vector<std::string> names;
  std::vector<series> all;
};

/// One row for each thing, with a bar from 0 or with dots.
struct row_chart {
  struct row {
    std::string label, note;  ///< to the left (empty: the one above), and to the right
    std::size_t colour;
    std::vector<double> values;  ///< empty where nothing was measured
  };
  struct key {
    std::string name;
    std::size_t colour;
  };
  std::string x_title;
  bool bars;
  double reference;  ///< a line across all rows
  std::string reference_name;
  double band;  ///< shaded, to both sides of the reference; 0: none
  std::vector<key> keys;
  std::vector<row> rows;
};

struct figure {
  std::string kind, id;        ///< "ladder", "ladder-sum-f32"; ids are unique in a report, of a-z, 0-9 and -
  std::string title, summary;  ///< what to see; the same in a few sentences, for those who cannot see it
  std::variant<line_chart, row_chart> chart;
  std::vector<table_row> table;  ///< the first row is the heading
};

}  // namespace fanin::cli::charts
