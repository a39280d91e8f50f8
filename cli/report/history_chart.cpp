// SPDX-License-Identifier: Apache-2.0
// Charts of the speed of each case over the commits, measured on one machine.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "cli/kit/text.hpp"
#include "cli/report/charts.hpp"

namespace fanin::cli::charts {

namespace {

/// The commits in the order of their dates.
std::vector<origin> commits_of(const std::vector<measurement>& all) {
  std::vector<origin> commits;
  for (const measurement& one : all) {
    if (std::ranges::find(commits, one.from) == commits.end()) commits.push_back(one.from);
  }
  std::ranges::stable_sort(commits, {}, &origin::date);
  return commits;
}

/// The first 7 bytes of a commit's name, or fewer where a character of UTF-8 would be cut.
std::string short_name(const std::string& commit) {
  std::size_t bytes = std::min<std::size_t>(commit.size(), 7);
  while (bytes > 0 && bytes < commit.size() && (commit[bytes] & 0xc0) == 0x80) --bytes;
  return commit.substr(0, bytes);
}

figure history_chart(const std::vector<measurement>& all, const std::vector<measurement>& ceilings) {
  const measurement& any = all.front();
  const std::vector<origin> commits = commits_of(all);
  line_chart chart{"commit, in the order measured", "GB/s", scaling::linear, scaling::linear, {}, {}};
  for (const origin& one : commits) chart.names.push_back(short_name(one.commit));
  std::string summary = "Lines of GB/s over the commits.", most_changed;
  double largest_change = 0;
  palette styles;
  auto lines = lines_of(all);
  for (auto& line : lines_of(ceilings)) lines.push_back(std::move(line));
  for (const auto& line : lines) {
    series one{name_of(line.front()), styles.of(line.front()), {}};
    for (std::size_t i = 0; i < commits.size(); ++i) {
      const auto found = std::ranges::find(line, commits[i], &measurement::from);
      if (found == line.end()) continue;
      one.points.push_back({static_cast<double>(i), found->gigabytes_per_second()});
    }
    if (one.points.empty()) continue;  // The ceiling was measured only with other methods.
    const double change = one.points.back().y / one.points.front().y - 1;
    summary += fmt::format(" {}: from {} to {} GB/s.", one.name, number_text(one.points.front().y),
                           number_text(one.points.back().y));
    if (line.front().backend != ceiling && std::abs(change) >= std::abs(largest_change)) {
      largest_change = change;
      most_changed = fmt::format("{} changed most, by {}", one.name, change_text(change));
    }
    chart.all.push_back(std::move(one));
  }
  const std::string count = fmt::format("{:.0f}", any.count);
  const std::string words[] = {"history", any.from.machine, any.operation, any.type, any.method, count};
  return {"history",
          id_of(words),
          fmt::format("History of {} of {}, {}, n = {}, {}: {}", spoken(any.operation), any.type, any.method,
                      count_text(any.count), any.from.machine, most_changed),
          summary,
          chart,
          table_of(chart, "GB/s at commit")};
}

}  // namespace

std::vector<figure> history_charts(const results& all) {
  std::vector<measurement> cases = cases_of_default_data(all);
  std::erase_if(cases, [](const measurement& one) { return one.from.commit.empty(); });
  const auto kind = [](const measurement& one) {
    return std::tie(one.from.machine, one.operation, one.type, one.method, one.count);
  };
  std::vector<figure> figures;
  for (const auto& group : grouped(cases, kind)) {
    if (commits_of(group).size() < 2) continue;
    figures.push_back(history_chart(group, ceilings_where(all, [&](const measurement& one) {
                                      const measurement& any = group.front();
                                      return std::tie(one.from.machine, one.operation, one.type, one.count) ==
                                                 std::tie(any.from.machine, any.operation, any.type, any.count) &&
                                             !one.from.commit.empty();
                                    })));
  }
  return figures;
}

}  // namespace fanin::cli::charts
