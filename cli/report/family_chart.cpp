// SPDX-License-Identifier: Apache-2.0
// Charts of the speed of exact sums by family of data.
#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"
#include "oracle/families.hpp"

namespace fanin::cli::charts {

namespace {

/// An exact sum, the plain sum that it is compared with, and its speed as a multiple of the plain sum's.
struct exact_case {
  measurement exact;
  std::string plain;
  double speed;
};

/// The plain sum of the same data by the same backend. If it was not measured, the fastest plain sum of the same
/// data.
const measurement* plain_for(const measurement& exact, const std::vector<measurement>& all) {
  const measurement* best = nullptr;
  const auto same = [](const measurement& one) { return std::tie(one.from, one.data, one.type, one.count); };
  const auto rank = [&](const measurement& one) { return std::pair(one.backend == exact.backend, -one.seconds); };
  for (const measurement& one : all) {
    if (one.operation != "sum" || one.method != "fast" || same(one) != same(exact)) continue;
    if (!best || rank(one) > rank(*best)) best = &one;
  }
  return best;
}

/// The position of the family in oracle::families().
auto rank_of_data(const std::string& data) {
  return std::ranges::find(oracle::families(), data.substr(0, data.find(':')), &oracle::family::name) -
         oracle::families().begin();
}

figure family_chart(const std::vector<exact_case>& cases) {
  const measurement& any = cases.front().exact;
  double largest = 0, least = std::numeric_limits<double>::infinity(), most = 0;
  for (const exact_case& one : cases) largest = std::max(largest, one.exact.count);
  row_chart chart{"speed of the exact sum, % of the plain sum's", true, 100, "plain sum", 0, {}, {}};
  std::vector<table_row> table = {{"data", "backend", "n", "exact, GB/s", "plain sum", "exact, % of plain"}};
  std::string descriptions, family;
  for (const exact_case& one : cases) {
    const std::string percent = fmt::format("{:.0f}", 100 * one.speed);
    table.push_back({one.exact.data, one.exact.backend, fmt::format("{:.0f}", one.exact.count),
                     fmt::format("{:.4g}", one.exact.gigabytes_per_second()), one.plain, percent});
    if (one.exact.count != largest) continue;
    const std::size_t colour = colour_of(one.exact.backend);
    chart.rows.push_back({one.exact.data == family ? "" : one.exact.data, percent + " %", colour, {100 * one.speed}});
    family = one.exact.data;
    chart.add_key(one.exact.backend, colour);
    descriptions += fmt::format(" {}, {}: {} %.", one.exact.data, one.exact.backend, percent);
    least = std::min(least, one.speed);
    most = std::max(most, one.speed);
  }
  const std::string words[] = {"families", any.from.machine, any.type};
  return {"families",
          id_of(words),
          fmt::format("Exact sums of {}, n = {}, {}: from {:.0f} % to {:.0f} % of the plain sum's speed, by data",
                      any.type, count_text(largest), any.from.machine, 100 * least, 100 * most),
          "Bars of the exact sum's speed as a share of the plain sum's, for each family of data." + descriptions,
          chart,
          table};
}

}  // namespace

std::vector<figure> family_charts(const results& all) {
  std::vector<exact_case> cases;
  for (const measurement& one : all.measurements) {
    if (one.data.empty() || one.operation != "sum" || one.method != "exact") continue;
    if (const measurement* plain = plain_for(one, all.measurements)) {
      cases.push_back({one, name_of(*plain), plain->seconds / one.seconds});
    }
  }
  const auto origin_and_type = [](const exact_case& one) { return std::tie(one.exact.from, one.exact.type); };
  const auto order = [](const exact_case& one) {
    return std::tuple(rank_of_data(one.exact.data), one.exact.data, one.exact.count, rank_of(one.exact.backend));
  };
  std::vector<figure> figures;
  for (auto& group : grouped(cases, origin_and_type)) {
    std::ranges::stable_sort(group, {}, order);
    figures.push_back(family_chart(group));
  }
  return figures;
}

}  // namespace fanin::cli::charts
