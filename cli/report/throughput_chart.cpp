// SPDX-License-Identifier: Apache-2.0
// Charts of the throughput of each backend over n elements, one chart per operation, type, method and machine.
#include <algorithm>
#include <cmath>
#include <limits>
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

std::string share_text(const std::vector<measurement>& ceilings, const measurement& best) {
  const double share = share_of(ceilings, best);
  if (share == 0) return {};
  return fmt::format(", {:.0f} % of the read ceiling{}", 100 * share, note_on_share(share));
}

/// Whether some of the cases were in a cache, and the lengths of these, if no case between them was not.
std::pair<bool, std::vector<line_chart::region>> cached_lengths(const std::vector<measurement>& cases) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = infinity, most = 0, beyond = infinity;
  for (const measurement& one : cases) {
    if (one.warm) {
      least = std::min(least, one.count);
      most = std::max(most, one.count);
    } else {
      beyond = std::min(beyond, one.count);
    }
  }
  if (most == 0) return {false, {}};
  if (beyond <= most) return {true, {}};
  return {true, {{least, beyond == infinity ? most : std::sqrt(most * beyond), "in a cache"}}};
}

/// Bars for lengths that no line joins, as the shares of the read ceilings.
row_chart bars_of(std::vector<measurement> cases, const std::vector<measurement>& ceilings) {
  row_chart chart{"% of the read ceiling", true, 100, "read ceiling", 0};
  std::ranges::stable_sort(cases, by_count);
  for (const auto& group : grouped(cases, [](const measurement& one) { return std::tie(one.count, one.warm); })) {
    const auto& [count, warm] = std::tie(group.front().count, group.front().warm);
    chart.rows.push_back({fmt::format("n = {}{}", count_text(count), warm ? ", in a cache" : ""), "", 0, {}});
    for (const measurement& one : group) {
      const std::string rate = number_text(one.gigabytes_per_second()) + " GB/s";
      chart.rows.push_back({name_of(one), rate, colour_of(one.backend), {100 * share_of(ceilings, one)}});
    }
  }
  return chart;
}

figure throughput_chart(const std::vector<measurement>& cases, const std::vector<measurement>& ceilings) {
  line_chart chart{"n, elements", "GB/s", scaling::lengths, scaling::log10, {}, {}};
  std::string summary = "Lines of GB/s over n, both logarithmic.";
  const auto [cached, regions] = cached_lengths(cases);
  chart.regions = regions;
  palette styles;
  for (const auto* measured : {&cases, &ceilings}) {
    for (auto& line : lines_of(*measured)) {
      std::ranges::sort(line, by_count);
      series one{name_of(line.front()), styles.of(line.front()), {}};
      if (cached && regions.empty()) one.name += line.front().warm ? ", in a cache" : ", from memory";
      for (const measurement& m : line) one.points.push_back({m.count, m.gigabytes_per_second()});
      summary += " " + description_of(line);
      chart.all.push_back(std::move(one));
    }
  }
  const measurement& best = best_at_end(cases);
  const bool joins = std::ranges::any_of(lines_of(cases), [](const auto& line) { return line.size() > 1; });
  const bool has_shares = std::ranges::all_of(cases, [&](const auto& one) { return share_of(ceilings, one) > 0; });
  std::variant<line_chart, row_chart> drawn = chart;
  if (!joins && has_shares) {
    drawn = bars_of(cases, ceilings);
    summary = "Bars of the share of the read ceiling, for each length and backend.";
    for (const auto& line : lines_of(cases)) summary += " " + description_of(line);
  }
  const std::string words[] = {"throughput", best.from.machine, best.operation, best.type, best.method};
  return {"throughput",
          id_of(words),
          fmt::format("{} of {}, {}, {}: {} reads {} GB/s at n = {}{}", capitalised(spoken(best.operation)),
                      best.type, best.method, best.from.machine, name_of(best),
                      number_text(best.gigabytes_per_second()), count_text(best.count), share_text(ceilings, best)),
          summary,
          std::move(drawn),
          table_of(chart, "GB/s at n")};
}

}  // namespace

std::vector<figure> throughput_charts(const results& all) {
  const auto kind = [](const measurement& one) {
    return std::tie(one.from.machine, one.operation, one.type, one.method);
  };
  std::vector<figure> figures;
  for (const auto& group : grouped(cases_of_default_data(all), kind)) {
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
