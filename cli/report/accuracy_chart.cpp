// SPDX-License-Identifier: Apache-2.0
// Charts of the errors of sums by method and element type: over n for an input that was summed at several lengths,
// and over the condition number for the other inputs of one length.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

/// The quantity over which the errors are drawn.
struct abscissa {
  const char* title;
  const char* name;  ///< as in "n = 100"
  scaling kind;
  double accuracy_result::*value;
};
constexpr abscissa over_count = {"n, elements", "n", scaling::lengths, &accuracy_result::count};
constexpr abscissa over_condition = {"condition number, sum |x| / |sum x|", "condition", scaling::log10,
                                     &accuracy_result::condition};

/// The largest relative error, or bound, of a method's variants, for each x.
std::vector<series::point> worst(const std::vector<accuracy_result>& line, const abscissa& over,
                                 double accuracy_result::*ulps) {
  std::vector<series::point> points;
  for (const auto& same : grouped(line, [&](const accuracy_result& one) { return one.*over.value; })) {
    double most = 0;
    for (const accuracy_result& one : same) most = std::max(most, one.*ulps * one.relative_ulp);
    // The number is not finite if there is no bound, or if the exact sum is 0.
    const bool known =
        std::ranges::all_of(same, [&](const auto& one) { return is_drawable(one.*ulps * one.relative_ulp); });
    const double x = same.front().*over.value;
    if (known && x >= 1 && is_drawable(x)) points.push_back({x, most});
  }
  std::ranges::sort(points, {}, &series::point::x);
  return points;
}

double digits_of(double error) { return std::max(0.0, std::floor(-std::log10(error))); }

std::string digits_text(double error, const std::string& type) {
  if (error == 0) return "all digits in " + type;
  const double digits = digits_of(error);
  if (digits == 0) return "no digit in " + type;
  return fmt::format("{:.0f} digit{} in {}", digits, digits == 1 ? "" : "s", type);
}

/// The digits that the sum of most elements keeps.
std::string kept_at_end(const std::vector<series::point>& errors, const std::string& type) {
  return digits_text(errors.back().y, type);
}

/// The digits that all sums keep, or the condition number from which on none keeps a digit.
std::string kept_by_condition(const std::vector<series::point>& errors, const std::string& type) {
  const auto keeps = [](const series::point& one) { return digits_of(one.y) > 0; };
  if (keeps(errors.back())) {
    return "at least " + digits_text(std::ranges::max_element(errors, {}, &series::point::y)->y, type);
  }
  auto lost = errors.end() - 1;
  while (lost != errors.begin() && !keeps(*(lost - 1))) --lost;
  return fmt::format("no digit in {} from condition {} on", type, number_text(lost->x));
}

/// The chart's axis of errors, which tells what dashes and dots are if there are any.
std::string title_of_errors(const line_chart& chart) {
  const auto has = [&](style::look how) {
    return std::ranges::any_of(chart.all, [&](const series& one) { return one.drawn.how == how; });
  };
  const bool dashed = has(style::look::dashed), dotted = has(style::look::dotted);
  return fmt::format("relative error{}", dashed && dotted ? " (dashed, dotted: proven bounds)"
                                         : dashed         ? " (dashed: proven bounds)"
                                         : dotted         ? " (dotted: proven bounds)"
                                                          : "");
}

std::vector<table_row> accuracy_table(const std::vector<accuracy_result>& all) {
  std::vector<table_row> table = {
      {"data", "condition", "variant", "method", "type", "n", "error, ulp", "bound, ulp"}};
  const auto number = [](double amount) {
    return std::isfinite(amount) ? fmt::format("{:.3g}", amount) : std::string("none");
  };
  for (const accuracy_result& one : all) {
    table.push_back({one.input, number(one.condition), one.backend + "/" + one.variant, one.method, one.type,
                     fmt::format("{:.0f}", one.count), number(one.error_ulps), number(one.bound_ulps)});
  }
  return table;
}

/// `what` begins the title, and `id` is the figure's.
figure accuracy_chart(std::vector<accuracy_result> all, const abscissa& over, const std::string& what,
                      const std::string& id) {
  std::ranges::stable_sort(all, {}, [](const auto& one) { return std::tuple(rank_of_method(one.method), one.type); });
  line_chart chart{over.title, "", over.kind, scaling::log10, {}, {}};
  std::string kept, summary = fmt::format("The relative error over the {}, both logarithmic.", over.title);
  const bool joined = &over == &over_count;  // Inputs of one length are different data, which no line joins.
  double end = 0;
  for (const auto& line : grouped(all, [](const accuracy_result& one) { return std::tie(one.method, one.type); })) {
    const auto& [method, type] = std::tie(line.front().method, line.front().type);
    const bool single = type == "f32";
    const std::size_t colour = colour_of_method(method);
    const std::vector<series::point> errors = worst(line, over, &accuracy_result::error_ulps);
    if (errors.empty()) continue;
    const std::string name = method + " " + type;
    chart.all.push_back({name, {colour, single ? style::look::filled : style::look::hollow}, errors, joined});
    const auto bounds = worst(line, over, &accuracy_result::bound_ulps);
    if (!bounds.empty())
      chart.all.push_back({"", {colour, single ? style::look::dashed : style::look::dotted}, bounds});
    const auto& [x, error] = errors.back();
    summary += fmt::format(" {}: {} at {} = {}.", name, number_text(error), over.name, number_text(x));
    if (method != "fast") continue;
    kept += (kept.empty() ? "" : ", ") + (joined ? kept_at_end : kept_by_condition)(errors, type);
    end = std::max(end, x);
  }
  chart.y_title = title_of_errors(chart);
  const std::string where = joined ? fmt::format("at n = {} ", number_text(end)) : "";
  return {
      "accuracy", id,    what + (kept.empty() ? "" : fmt::format(": {}the worst plain sum keeps {}", where, kept)),
      summary,    chart, accuracy_table(all)};
}

}  // namespace

std::vector<figure> accuracy_charts(const results& all) {
  std::vector<figure> figures;
  std::vector<accuracy_result> of_one_length;
  for (const auto& group : grouped(all.accuracies, [](const accuracy_result& one) { return one.input; })) {
    const double count = group.front().count;
    if (std::ranges::all_of(group, [&](const accuracy_result& one) { return one.count == count; })) {
      of_one_length.insert(of_one_length.end(), group.begin(), group.end());
      continue;
    }
    const std::string words[] = {"accuracy", group.front().input};
    figures.push_back(
        accuracy_chart(group, over_count, fmt::format("Errors for data '{}'", group.front().input), id_of(words)));
  }
  for (const auto& group : grouped(of_one_length, [](const accuracy_result& one) { return one.count; })) {
    const std::string words[] = {"accuracy", "condition", fmt::format("{:.0f}", group.front().count)};
    figures.push_back(accuracy_chart(group, over_condition,
                                     fmt::format("Errors of sums of {} elements", number_text(group.front().count)),
                                     id_of(words)));
  }
  return figures;
}

}  // namespace fanin::cli::charts
