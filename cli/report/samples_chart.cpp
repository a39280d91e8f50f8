// SPDX-License-Identifier: Apache-2.0
// Charts of the results of 'fanin regress': for each case, the difference of B's time from A's in each pair, and the
// verdict.
#include <algorithm>

#include <fmt/format.h>

#include "cli/report/charts.hpp"
#include "measure/timing.hpp"

namespace fanin::cli::charts {

namespace {

std::size_t colour_of_verdict(std::string_view verdict) {
  constexpr std::string_view by_colour[] = {"SAME", "SLOWER", "FASTER", "UNDECIDED"};
  return static_cast<std::size_t>(std::ranges::find(by_colour, verdict) - by_colour);
}

figure samples_chart(const comparison& one) {
  row_chart chart{"B's time against A's, %", false, 0, fmt::format("no change, ±{:.3g} %", 100 * one.threshold),
                  100 * one.threshold,       {},    {}};
  std::vector<table_row> table = {{"case", "verdict", one.paired ? "pair" : "sample",
                                   one.paired ? "A, seconds" : "median of A, seconds", "B, seconds", "B against A, %",
                                   "reason"}};
  std::string descriptions;
  for (const comparison::judged& judged : one.cases) {
    row_chart::row row{judged.name, judged.verdict, colour_of_verdict(judged.verdict), {}};
    for (std::size_t i = 0; i < judged.b_seconds.size(); ++i) {
      const double a = one.paired ? judged.a_seconds[i] : measure::median(judged.a_seconds), b = judged.b_seconds[i];
      row.values.push_back(100 * (b / a - 1));
      table.push_back({judged.name, judged.verdict, std::to_string(i + 1), fmt::format("{:.4g}", a),
                       fmt::format("{:.4g}", b), fmt::format("{:.2f}", row.values.back()), judged.reason});
    }
    chart.rows.push_back(std::move(row));
    descriptions += fmt::format(" {}: {}, {}.", judged.name, judged.verdict, judged.reason);
  }
  const auto count_of = [&](std::string_view verdict) {
    return std::ranges::count(one.cases, verdict, &comparison::judged::verdict);
  };
  const std::string words[] = {"samples", one.b};
  return {
      "samples",
      id_of(words),
      fmt::format("Is B slower than A? Of {} cases {} slower, {} faster, {} the same, {} undecided", one.cases.size(),
                  count_of("SLOWER"), count_of("FASTER"), count_of("SAME"), count_of("UNDECIDED")),
      fmt::format("A is {}, B is {}. Dots of B's time against {}.{}", one.a, one.b,
                  one.paired ? "A's, one for each pair" : "the median of A's", descriptions),
      chart,
      table};
}

}  // namespace

std::vector<figure> samples_charts(const results& all) {
  std::vector<figure> figures;
  for (const comparison& one : all.comparisons) figures.push_back(samples_chart(one));
  return figures;
}

}  // namespace fanin::cli::charts
