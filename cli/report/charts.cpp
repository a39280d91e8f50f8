// SPDX-License-Identifier: Apache-2.0
#include "cli/report/charts.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

#include <fmt/format.h>

#include <fanin/backend.hpp>

#include "measure/ceiling.hpp"

namespace fanin::cli::charts {

std::span<const chart_kind> chart_kinds() {
  static constexpr chart_kind kinds[] = {
      {"samples", "pairs of two builds, and the verdicts", samples_charts},
      {"compare", "error against speed, for each way to sum", compare_charts},
      {"throughput", "GB/s against n, for each backend", throughput_charts},
      {"families", "exact sums against plain ones, by family of data", family_charts},
      {"accuracy", "error and proven bound against condition number or n; 0 is correctly rounded", accuracy_charts},
      {"ladder", "the CUDA stages against the read ceiling", ladder_charts},
      {"latency", "how chains in a thread and warps on a multiprocessor hide the latency", latency_charts},
      {"history", "GB/s from commit to commit, for each case", history_charts}};
  return kinds;
}

std::vector<figure> all_figures(const results& all) {
  std::vector<figure> figures;
  for (const chart_kind& kind : chart_kinds()) {
    for (figure& one : kind.make(all)) {
      const std::string id = one.id;
      for (int copy = 2; std::ranges::find(figures, one.id, &figure::id) != figures.end(); ++copy) {
        one.id = fmt::format("{}-{}", id, copy);
      }
      figures.push_back(std::move(one));
    }
  }
  return figures;
}

std::vector<measurement> cases_of_default_data(const results& all) {
  std::vector<measurement> cases;
  std::ranges::copy_if(all.measurements, std::back_inserter(cases),
                       [](const measurement& one) { return one.data.empty() && one.backend != ceiling; });
  std::ranges::stable_sort(cases, {}, [](const measurement& one) {
    return std::tuple(one.operation != "sum", one.operation, one.type, rank_of_method(one.method), one.from.machine,
                      rank_of(one.backend), one.variant);
  });
  return cases;
}

double share_of(const std::vector<measurement>& ceilings, const measurement& one) {
  double most = 0;
  for (const measurement& read : ceilings) {
    if (read.count == one.count) most = std::max(most, read.gigabytes_per_second());
  }
  return most == 0 ? 0 : one.gigabytes_per_second() / most;
}

std::string note_on_share(double share) {
  return measure::exceeds_ceiling(share) ? " (the ceiling was measured too low)" : "";
}

std::vector<measurement> latest(const std::vector<measurement>& all) {
  origin last = all.front().from;
  for (const measurement& one : all) last = one.from.date < last.date ? last : one.from;
  std::vector<measurement> kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [&](const auto& one) { return one.from == last; });
  return kept;
}

std::string name_of(const measurement& one) {
  if (one.backend == ceiling) return one.variant + " read ceiling";
  return one.variant == one.method ? one.backend : one.backend + "/" + one.variant;
}

std::size_t rank_of(std::string_view backend) {
  const auto known = backends();
  std::size_t rank = known.size();
  while (rank > 0 && known[rank - 1]->name() != backend) --rank;
  return known.size() - rank;
}

std::size_t rank_of_method(std::string_view method) { return method == "fast" ? 0 : method == "compensated" ? 1 : 2; }

std::size_t colour_of(std::string_view backend) { return rank_of(backend) % style::colours; }

std::size_t colour_of_method(std::string_view method) {
  constexpr std::size_t colours[] = {1, 0, 2};
  return colours[rank_of_method(method)];
}

std::vector<std::vector<measurement>> lines_of(const std::vector<measurement>& all) {
  return grouped(all, [](const measurement& one) { return std::pair(name_of(one), one.warm); });
}

style palette::of(const measurement& one) {
  const std::string name = name_of(one);
  const auto known = named_.find(name);
  return known != named_.end() ? known->second : named_.emplace(name, next(one.backend)).first->second;
}

style palette::next(std::string_view backend) {
  using enum style::look;
  if (backend == ceiling) return {style::colours, ceilings_++ == 0 ? dashed : dotted};
  style chosen{colour_of(backend), filled};
  while (used_.size() < 2 * style::colours && std::ranges::find(used_, chosen) != used_.end()) {
    chosen =
        chosen.how == filled ? style{chosen.colour, hollow} : style{(chosen.colour + 1) % style::colours, filled};
  }
  used_.push_back(chosen);
  return chosen;
}

std::vector<table_row> table_of(const line_chart& chart, std::string_view heading_of_x) {
  std::map<double, std::map<std::string, double>> rows;
  std::vector<table_row> table = {{std::string(heading_of_x)}};
  table_row& heading = table.front();
  for (const series& one : chart.all) {
    if (one.name.empty()) continue;
    if (std::find(heading.begin() + 1, heading.end(), one.name) == heading.end()) heading.push_back(one.name);
    for (const auto& [x, y] : one.points) rows[x][one.name] = y;
  }
  const std::vector<std::string> columns(heading.begin() + 1, heading.end());
  for (const auto& [x, values] : rows) {
    table.push_back({chart.names.empty() ? fmt::format("{:.0f}", x) : chart.names[static_cast<std::size_t>(x)]});
    for (const std::string& column : columns) {
      const auto found = values.find(column);
      table.back().push_back(found == values.end() ? "" : fmt::format("{:.4g}", found->second));
    }
  }
  return table;
}

std::string capitalised(std::string_view words) {
  std::string text(words);
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string spoken(std::string_view operation) {
  std::string words(operation);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string id_of(std::span<const std::string> words) {
  std::string id;
  for (const std::string& word : words) {
    if (!id.empty()) id += '-';
    for (const char c : word)
      id += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(c)) : '-';
  }
  return id;
}

}  // namespace fanin::cli::charts
