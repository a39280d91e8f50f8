// SPDX-License-Identifier: Apache-2.0
// Charts of an instruction's rate over the warps per multiprocessor, with a line for each number of chains per
// thread.
#include <algorithm>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

figure latency_chart(const latency_result& of) {
  line_chart chart{"warps on a multiprocessor", of.unit + of.remark, scaling::lengths, scaling::log10, {}, {}};
  std::string summary = fmt::format("Lines of {} over warps, both logarithmic.", of.unit);
  for (const auto& line : grouped(of.rates, [](const latency_result::rate& one) { return one.chains; })) {
    series one{line.front().chains, {chart.all.size() % style::colours, style::look::filled}, {}};
    for (const auto& [chains, warps, value] : line) one.points.push_back({warps, value});
    summary += fmt::format(" {}: {} at warps = {:.0f}, {} at {:.0f}.", capitalised(one.name),
                           number_text(one.points.front().y), one.points.front().x, number_text(one.points.back().y),
                           one.points.back().x);
    chart.all.push_back(std::move(one));
  }
  const auto [least, most] = std::ranges::minmax(of.rates, {}, &latency_result::rate::value);
  const std::string words[] = {"latency", of.from.machine, of.instruction};
  return {"latency",
          id_of(words),
          fmt::format("Latency of {}, {}: {} {} {}, warps = {:.0f}; {} {}, warps = {:.0f}", of.instruction,
                      of.from.machine, number_text(least.value), of.unit, least.chains, least.warps,
                      number_text(most.value), most.chains, most.warps),
          summary,
          chart,
          table_of(chart, "warps")};
}

}  // namespace

std::vector<figure> latency_charts(const results& all) {
  std::vector<figure> figures;
  for (const latency_result& one : all.latencies) {
    if (!one.rates.empty()) figures.push_back(latency_chart(one));
  }
  return figures;
}

}  // namespace fanin::cli::charts
