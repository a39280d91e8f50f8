// SPDX-License-Identifier: Apache-2.0
// Charts of the stages of the CUDA ladder as bars, with a line at the read ceiling.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

constexpr std::size_t stage_colour = 0, shipped_colour = 2;

figure ladder_chart(const ladder_result& one) {
  const double limit = one.ceiling_gigabytes_per_second;
  row_chart chart{"GB/s", true, limit, fmt::format("read ceiling, {} GB/s", number_text(limit)), 0, {}, {}};
  std::vector<table_row> table = {{"number", "stage", "GB/s", "% of the ceiling"}};
  std::string descriptions;
  const ladder_result::rung *slowest = nullptr, *fastest = nullptr;
  for (const ladder_result::rung& rung : one.rungs) {
    const auto& rate = rung.gigabytes_per_second;
    const std::string share = rate ? fmt::format("{:.1f}", 100 * *rate / limit) : "";
    chart.rows.push_back({rung.number.empty() ? rung.stage : rung.number + " " + rung.stage,
                          rate ? share + " %" : "wrong",
                          rung.number.empty() ? shipped_colour : stage_colour,
                          {}});
    table.push_back({rung.number, rung.stage, rate ? fmt::format("{:.1f}", *rate) : "", share});
    if (!rate) continue;
    chart.rows.back().values = {*rate};
    chart.add_key(rung.number.empty() ? "what a backend ships" : "a stage of the ladder", chart.rows.back().colour);
    descriptions += fmt::format("{} {} %, ", rung.stage, share);
    if (!slowest || *rate < slowest->gigabytes_per_second) slowest = &rung;
    if (!fastest || *rate > fastest->gigabytes_per_second) fastest = &rung;
  }
  const std::string what = fmt::format("Ladder for {} of {}, n = {}, {}", spoken(one.operation), one.type,
                                       count_text(one.count), one.from.machine);
  const std::string story = fastest ? fmt::format(": {} reads at {:.0f} % of the ceiling, {} at {:.0f} %{}",
                                                  slowest->stage, 100 * *slowest->gigabytes_per_second / limit,
                                                  fastest->stage, 100 * *fastest->gigabytes_per_second / limit,
                                                  note_on_share(*fastest->gigabytes_per_second / limit))
                                    : std::string(": no stage gave a right value");
  const std::string words[] = {"ladder", one.operation, one.type, fmt::format("{:.0f}", one.count)};
  return {"ladder",
          id_of(words),
          what + story,
          fmt::format("Bars of GB/s for each stage in order; the read ceiling of {} GB/s is a line. Shares of it: {}"
                      "of the ceiling.",
                      number_text(limit), descriptions),
          chart,
          table};
}

}  // namespace

std::vector<ladder_result> ladders_in_order(const results& all) {
  std::vector<ladder_result> ladders = all.ladders;
  std::ranges::stable_sort(ladders, {}, [](const ladder_result& one) {
    return std::tuple(one.operation != "sum", one.operation, one.type, -one.count);
  });
  return ladders;
}

std::vector<figure> ladder_charts(const results& all) {
  std::vector<figure> figures;
  for (const ladder_result& one : ladders_in_order(all)) figures.push_back(ladder_chart(one));
  return figures;
}

}  // namespace fanin::cli::charts
