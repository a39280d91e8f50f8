// SPDX-License-Identifier: Apache-2.0
// Makes figures from results. Each kind of chart has a function.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/figure.hpp"
#include "cli/report/results.hpp"

namespace fanin::cli::charts {

std::vector<figure> ladder_charts(const results& all);
std::vector<figure> latency_charts(const results& all);
std::vector<figure> throughput_charts(const results& all);
std::vector<figure> family_charts(const results& all);
std::vector<figure> accuracy_charts(const results& all);
std::vector<figure> compare_charts(const results& all);
std::vector<figure> samples_charts(const results& all);
std::vector<figure> history_charts(const results& all);

struct chart_kind {
  std::string_view name, story;
  std::vector<figure> (*make)(const results&);
};
/// The kinds of charts, in the order of a report.
std::span<const chart_kind> chart_kinds();

/// The figures of every kind, each with an id of its own.
std::vector<figure> all_figures(const results& all);

/// Groups the items by key. Groups are in the order of their first items.
template <class T, class Key>
std::vector<std::vector<T>> grouped(const std::vector<T>& items, Key key) {
  std::vector<std::vector<T>> groups;
  for (const T& one : items) {
    const auto same = [&](const std::vector<T>& group) { return key(group.front()) == key(one); };
    const auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) {
      groups.push_back({one});
    } else {
      found->push_back(one);
    }
  }
  return groups;
}

/// The ladders, sums first. Among ladders of one type, the ladder with the most elements comes first, because
/// starting a kernel takes the smallest part of its time.
std::vector<ladder_result> ladders_in_order(const results& all);

/// The cases whose data are of no named family, in the order of a report.
std::vector<measurement> cases_of_default_data(const results& all);

/// The read ceilings for which `wanted` holds. Ceilings of one thread come first.
template <class Wanted>
std::vector<measurement> ceilings_where(const results& all, Wanted wanted) {
  std::vector<measurement> kept;
  std::ranges::copy_if(all.measurements, std::back_inserter(kept), [&](const measurement& one) {
    return one.backend == ceiling && one.data.empty() && wanted(one);
  });
  std::ranges::stable_sort(kept, std::greater(), &measurement::variant);
  return kept;
}

/// The case's speed as a share of the fastest read of as many elements; 0 if no read was measured.
double share_of(const std::vector<measurement>& ceilings, const measurement& one);

/// A remark on a share of the read ceiling that is too large to be true; empty if the share is not.
std::string note_on_share(double share);

/// The measurements of the latest date. `all` is not empty.
std::vector<measurement> latest(const std::vector<measurement>& all);

/// The backend and the variant, as in "serial/kahan". A variant with the name of its method is left out, as in
/// "cuda".
std::string name_of(const measurement& one);

/// Groups of measurements that a line may join. A group has one name, and is all in a cache or all from memory.
std::vector<std::vector<measurement>> lines_of(const std::vector<measurement>& all);

/// The order in which backends and methods are shown.
std::size_t rank_of(std::string_view backend);
std::size_t rank_of_method(std::string_view method);

/// The number of a backend's colour, which is the same in all charts.
std::size_t colour_of(std::string_view backend);
/// The number of a method's colour, in charts where colours tell methods.
std::size_t colour_of_method(std::string_view method);

/// Styles for the lines of one chart, one for each name. The second variant of a backend has hollow markers.
class palette {
 public:
  style of(const measurement& one);

 private:
  style next(std::string_view backend);

  std::map<std::string, style> named_;
  std::vector<style> used_;
  int ceilings_ = 0;
};

/// The words with a capital letter at the beginning.
std::string capitalised(std::string_view words);

/// The operation as words, as in "sum of squares".
std::string spoken(std::string_view operation);

/// The numbers of a chart, with a row for each x and a column for each series that has a name.
std::vector<table_row> table_of(const line_chart& chart, std::string_view heading_of_x);

/// An id made of the words, as in "ladder-sum-f32". The words may contain any characters.
std::string id_of(std::span<const std::string> words);

}  // namespace fanin::cli::charts
