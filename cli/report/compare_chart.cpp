// SPDX-License-Identifier: Apache-2.0
// Charts of the error of sums against their speed, with a point for each algorithm.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

using compared_row = compare_result::row;

/// A variant's name. The default variant "simd" has the name of its method.
std::string label_of(const compared_row& one) {
  const std::string name = one.variant == "simd" ? one.method : one.variant;
  return one.on_device ? one.backend + " " + name : name;
}

/// Each variant in host memory has one row, from its fastest backend. Each method of a device's backend has one
/// row, from its default variant, which comes first. A row is left out if an axis cannot show its error.
std::vector<compared_row> drawn_rows(const compare_result& all) {
  std::vector<compared_row> rows;
  std::vector<compared_row> drawable = all.rows;
  std::erase_if(drawable, [](const compared_row& one) { return !is_drawable(one.error_ulps); });
  const auto algorithm = [](const compared_row& one) {
    return one.on_device ? std::tuple(true, one.backend, one.method) : std::tuple(false, one.variant, one.method);
  };
  for (const auto& group : grouped(drawable, algorithm)) {
    rows.push_back(group.front().on_device
                       ? group.front()
                       : *std::ranges::max_element(group, {}, &compared_row::gigabytes_per_second));
  }
  // The label of the most accurate method has the first choice of places.
  std::ranges::stable_sort(rows, std::greater(), [](const compared_row& one) { return rank_of_method(one.method); });
  return rows;
}

std::string description_of(const compared_row& one) {
  return fmt::format("{} {} GB/s with an error of {} ulp", label_of(one), number_text(one.gigabytes_per_second),
                     number_text(one.error_ulps));
}

figure compare_chart(const compare_result& all, const std::vector<compared_row>& rows) {
  line_chart chart{"GB/s", "error, ulp (0: the correctly rounded sum)", scaling::log10, scaling::log10, {}, {}};
  const auto by_error = [](const compared_row& one) {
    return std::tuple(one.error_ulps, one.method != "exact", -one.gigabytes_per_second);
  };
  const compared_row &best = *std::ranges::min_element(rows, {}, by_error),
                     &worst = *std::ranges::max_element(rows, {}, by_error);
  std::string summary = "Points of the error over the speed, both logarithmic.";
  for (const compared_row& one : rows) {
    const style drawn{colour_of_method(one.method), style::look::filled};
    chart.all.push_back({one.method, drawn, {{one.gigabytes_per_second, one.error_ulps}}, false, {label_of(one)}});
    summary += fmt::format(" {}.", capitalised(description_of(one)));
  }
  if (const auto limit = all.ceiling_gigabytes_per_second) {
    chart.all.push_back({"read ceiling of host memory",
                         {style::colours, style::look::dashed},
                         {{*limit, best.error_ulps}, {*limit, worst.error_ulps}}});
  }
  std::vector<table_row> table = {{"backend", "variant", "method", "GB/s", "error, ulp"}};
  for (const compared_row& one : all.rows) {
    table.push_back({one.backend, one.variant, one.method, fmt::format("{:.4g}", one.gigabytes_per_second),
                     std::isfinite(one.error_ulps) ? fmt::format("{:.4g}", one.error_ulps) : "none"});
  }
  const std::string words[] = {"compare", all.machine, all.type, fmt::format("{:.0f}", all.count)};
  return {"compare",
          id_of(words),
          fmt::format("Error against speed, {}{}{}: {}; {}", all.input, all.machine.empty() ? "" : ", ", all.machine,
                      description_of(best), description_of(worst)),
          summary,
          chart,
          table};
}

}  // namespace

std::vector<figure> compare_charts(const results& all) {
  std::vector<figure> figures;
  for (const compare_result& one : all.compared) {
    const std::vector<compared_row> rows = drawn_rows(one);
    if (!rows.empty()) figures.push_back(compare_chart(one, rows));
  }
  return figures;
}

}  // namespace fanin::cli::charts
