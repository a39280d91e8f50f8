// SPDX-License-Identifier: Apache-2.0
// Charts of the throughput of each backend over n elements, one chart per operation, type, method and machine.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

constexpr auto by_count = [](const measurement& a, const measurement& b) { return a.count < b.count; };

std::string description_of(const std::vector<measurement>& line) {
  const measurement &first = line.front(), &last = line.back();
  return fmt::format("{}: {} GB/s at n = {}, {} GB/s at n = {}.", name_of(last),
                     number_text(first.gigabytes_per_second()), count_text(first.count),
                     number_text(last.gigabytes_per_second()), count_text(last.count));
}

/// The fastest measurement at the largest n.
const measurement& best_at_end(const std::vector<measurement>& all) {
  const double end = std::ranges::max_element(all, by_count)->count;
  return *std::ranges::max_element(
      all, {}, [&](const measurement& one) { return one.count == end ? one.gigabytes_per_second() : 0; });
}

std::string share_of(const std::vector<measurement>& ceilings, const measurement& best) {
  double most = 0;
  for (const measurement& one : ceilings) {
    if (one.count == best.count) most = std::max(most, one.gigabytes_per_second());
  }
  if (most == 0) return {};
  const double share = best.gigabytes_per_second() / most;
  return fmt::format(", {:.0f} % of the read ceiling{}", 100 * share, note_on_share(share));
}

figure throughput_chart(const std::vector<measurement>& cases, const std::vector<measurement>& ceilings) {
  line_chart chart{"n, elements", "GB/s", scaling::log2, scaling::log10, {}, {}};
  std::string summary = "Lines of GB/s over n, both logarithmic.";
  palette styles;
  for (const auto* measured : {&cases, &ceilings}) {
    for (auto& line : grouped(*measured, name_of)) {
      std::ranges::sort(line, by_count);
      series one{name_of(line.front()), styles.next(line.front().backend), {}};
      for (const measurement& m : line) one.points.push_back({m.count, m.gigabytes_per_second()});
      summary += " " + description_of(line);
      chart.all.push_back(std::move(one));
    }
  }
  const measurement& best = best_at_end(cases);
  const std::string words[] = {"throughput", best.from.machine, best.operation, best.type, best.method};
  return {"throughput",
          id_of(words),
          fmt::format("{} of {}, {}, {}: {} reads {} GB/s at n = {}{}", capitalised(best.operation), best.type,
                      best.method, best.from.machine, name_of(best), number_text(best.gigabytes_per_second()),
                      count_text(best.count), share_of(ceilings, best)),
          summary,
          chart,
          table_of(chart, "GB/s at n")};
}

}  // namespace

std::vector<figure> throughput_charts(const results& all) {
  const auto kind = [](const measurement& one) {
    return std::tie(one.from.machine, one.operation, one.type, one.method);
  };
  std::vector<figure> figures;
  for (const auto& group : grouped(usual_cases(all), kind)) {
    const std::vector<measurement> newest = latest(group);
    const measurement& any = newest.front();
    figures.push_back(throughput_chart(newest, ceilings_where(all, [&](const measurement& one) {
                                         return std::tie(one.from, one.operation, one.type) ==
                                                std::tie(any.from, any.operation, any.type);
                                       })));
  }
  return figures;
}

}  // namespace fanin::cli::charts
