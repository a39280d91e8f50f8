// SPDX-License-Identifier: Apache-2.0
// Charts of the errors of sums by method and element type, one chart per family of data.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

constexpr std::size_t method_colours[] = {1, 0, 2};  // Indexed by rank_of_method().

/// Beyond this an axis would end at infinity.
constexpr double most_drawn = 1e300;

/// For each n the largest relative error, or bound, of a method's variants.
std::vector<series::point> worst(const std::vector<accuracy_result>& line, double accuracy_result::*ulps) {
  std::vector<series::point> points;
  for (const auto& same : grouped(line, [](const accuracy_result& one) { return one.count; })) {
    double most = 0;
    for (const accuracy_result& one : same) most = std::max(most, one.*ulps * one.relative_ulp);
    // The number is not finite if there is no bound, or if the exact sum is 0.
    const bool known =
        std::ranges::all_of(same, [&](const auto& one) { return one.*ulps * one.relative_ulp <= most_drawn; });
    if (known) points.push_back({same.front().count, most});
  }
  std::ranges::sort(points, {}, &series::point::x);
  return points;
}

std::string digits_text(double error, const std::string& type) {
  if (error == 0) return "all digits in " + type;
  const double digits = std::max(0.0, std::floor(-std::log10(error)));
  if (digits == 0) return "no digit in " + type;
  return fmt::format("{:.0f} digit{} in {}", digits, digits == 1 ? "" : "s", type);
}

figure accuracy_chart(std::vector<accuracy_result> all) {
  std::ranges::stable_sort(all, {}, [](const auto& one) { return std::tuple(rank_of_method(one.method), one.type); });
  line_chart chart{"n, elements", "relative error (dashed, dotted: bounds)", scaling::log10, scaling::log10, {}, {}};
  std::string kept, summary = "Lines of the relative error over n, both logarithmic, with the proven bounds dashed.";
  for (const auto& line : grouped(all, [](const accuracy_result& one) { return std::tie(one.method, one.type); })) {
    const auto& [method, type] = std::tie(line.front().method, line.front().type);
    const bool single = type == "f32";
    const std::size_t colour = method_colours[rank_of_method(method)];
    const std::vector<series::point> errors = worst(line, &accuracy_result::error_ulps);
    if (errors.empty()) continue;
    const std::string name = method + " " + type;
    chart.all.push_back({name, {colour, single ? style::look::filled : style::look::hollow}, errors});
    const auto bounds = worst(line, &accuracy_result::bound_ulps);
    chart.all.push_back({"", {colour, single ? style::look::dashed : style::look::dotted}, bounds});
    summary += fmt::format(" {}: {} at n = {}.", name, number_text(errors.back().y), number_text(errors.back().x));
    if (method == "fast") kept += (kept.empty() ? "" : ", ") + digits_text(errors.back().y, type);
  }
  std::vector<table_row> table = {{"variant", "method", "type", "n", "error, ulp", "bound, ulp"}};
  const auto ulps = [](double amount) {
    return std::isfinite(amount) ? fmt::format("{:.3g}", amount) : std::string("none");
  };
  double largest = 0;
  for (const accuracy_result& one : all) {
    table.push_back({one.backend + "/" + one.variant, one.method, one.type, fmt::format("{:.0f}", one.count),
                     ulps(one.error_ulps), ulps(one.bound_ulps)});
    largest = std::max(largest, one.count);
  }
  const std::string words[] = {"accuracy", all.front().input};
  return {
      "accuracy",
      id_of(words),
      fmt::format("Errors for data '{}'", all.front().input) +
          (kept.empty() ? "" : fmt::format(": at n = {} the worst plain sum keeps {}", number_text(largest), kept)),
      summary,
      chart,
      table};
}

}  // namespace

std::vector<figure> accuracy_charts(const results& all) {
  std::vector<figure> figures;
  for (const auto& group : grouped(all.accuracies, [](const accuracy_result& one) { return one.input; })) {
    figures.push_back(accuracy_chart(group));
  }
  return figures;
}

}  // namespace fanin::cli::charts
