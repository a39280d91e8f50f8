// SPDX-License-Identifier: Apache-2.0
// The results of fanin regress as text and JSON.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/table.hpp"
#include "cli/kit/text.hpp"
#include "cli/regress/pairs.hpp"
#include "cli/regress/regress.hpp"
#include "measure/timing.hpp"

namespace fanin::cli {

namespace {

std::string percent(double fraction) { return fmt::format("{:.3g} %", 100 * fraction); }
std::string_view to_string(quantity what) {
  constexpr std::string_view names[] = {"wall time", "CPU time", "instructions"};
  return names[static_cast<std::size_t>(what)];
}

std::string amount_text(quantity what, const std::vector<double>& amounts) {
  const double median = measure::median(amounts);
  return what == quantity::instructions ? fmt::format("{:.4g}", median) : fmt::format("{:.4g} ms", 1e3 * median);
}
std::string change(double logarithm) { return change_text(std::expm1(logarithm)); }

bool is_bounded(const judgement& one) { return std::isfinite(one.moved.low); }

/// An end of the interval, as a cell of the table. It is empty if the interval has no ends.
std::string limit(const regress_result& all, const judgement& found, double end) {
  return all.from_files || !is_bounded(found) ? "" : change(end);
}

std::string range_text(const judgement& one) {
  return fmt::format("between {} and {}", change(one.moved.low), change(one.moved.high));
}

std::string undecided_reason(const regress_result& all, const regress_case& one, const paired_amounts& pairs) {
  const judgement& found = pairs.judged;
  if (pairs.a.size() < least_pairs) {
    return fmt::format("a verdict takes {} pairs, not {}, and about {:.0f} s", least_pairs, pairs.a.size(),
                       std::ceil(one.pair_seconds * least_pairs));
  }
  if (found.hidden) {
    return fmt::format("{}, but A may differ from itself by {}; a quieter machine or more pairs would decide it",
                       range_text(found), percent(std::expm1(*found.floor)));
  }
  const double threshold = std::log1p(all.threshold);
  const std::string doubt = found.moved.low > threshold || found.moved.high < -threshold
                                ? fmt::format("beyond {}, but not surely enough for one of {} verdicts",
                                              percent(all.threshold), hypotheses_of(all))
                                : fmt::format("neither surely within {} nor surely beyond", percent(all.threshold));
  const std::string_view what = all.layouts > 0 ? "layouts (--layouts)" : "pairs (--at-most gives them time)";
  const std::string remedy = found.pairs_to_decide
                                 ? fmt::format("about {:.0f} {}", *found.pairs_to_decide, what)
                                 : "no practical number of pairs, only a quieter machine or another threshold";
  const std::string seen = found.visible ? change(*found.visible) + " would have been seen; " : "";
  return fmt::format("{}: {}; {}{} would decide it", range_text(found), doubt, seen, remedy);
}

std::string reason_from_files(const judgement& found) {
  const std::string difference = change(found.moved.estimate);
  if (found.called != verdict::undecided) return difference + ", a factor of 2 or more";
  return difference + ", which one process of each cannot tell from chance; pairs of the programs would decide it";
}

/// The reason of the verdict on one quantity.
std::string reason_of(const regress_result& all, const regress_case& one, const paired_amounts& pairs) {
  const judgement& found = pairs.judged;
  if (all.from_files) return reason_from_files(found);
  switch (found.called) {
    case verdict::slower:
      return fmt::format("{}, at least {}; the threshold is {}", change(found.moved.estimate),
                         change(found.moved.low), percent(all.threshold));
    case verdict::faster:
      return fmt::format("{}, at most {}; the threshold is {}", change(found.moved.estimate),
                         change(found.moved.high), percent(all.threshold));
    case verdict::same:
      return fmt::format("{}, within the threshold of {}", range_text(found), percent(all.threshold));
    case verdict::undecided:
      return undecided_reason(all, one, pairs);
  }
  return {};
}

json quantity_json(const regress_result& all, const paired_amounts& pairs) {
  const judgement& found = pairs.judged;
  json row = {{"ratio", std::exp(found.moved.estimate)}};
  if (all.from_files) return row;
  row["ratio_low"] = is_bounded(found) ? json(std::exp(found.moved.low)) : json(nullptr);
  row["ratio_high"] = is_bounded(found) ? json(std::exp(found.moved.high)) : json(nullptr);
  row["p_slower"] = found.p_slower;
  row["p_faster"] = found.p_faster;
  row["p_same"] = found.p_same;
  row["floor"] = found.floor ? json_number(std::expm1(*found.floor)) : json(nullptr);
  row["visible"] = found.visible ? json(std::expm1(*found.visible)) : json(nullptr);
  row["pairs_to_decide"] = found.pairs_to_decide ? json(*found.pairs_to_decide) : json(nullptr);
  return row;
}

/// The case with its wall time. "others" has the other quantities.
json row_json(const regress_result& all, const regress_case& one) {
  json row = quantity_json(all, one.wall());
  row["name"] = one.name;
  row["verdict"] = to_string(one.called());
  row["decided_by"] = to_string(one.deciding());
  row["reason"] = reason_of(all, one);
  row["a_seconds"] = one.wall().a;
  row["b_seconds"] = one.wall().b;
  if (!one.wall().a_again.empty()) row["a_again_seconds"] = one.wall().a_again;
  row["control"] = one.control;
  row["others"] = json::array();
  for (const auto& [what, pairs] : one.measured) {
    if (what == quantity::wall_time) continue;
    json other = quantity_json(all, pairs);
    other["quantity"] = to_string(what);
    other["verdict"] = to_string(pairs.judged.called);
    other["reason"] = reason_of(all, one, pairs);
    other["a"] = pairs.a;
    other["b"] = pairs.b;
    row["others"].push_back(other);
  }
  return row;
}

bool has_floor(const regress_result& all) { return all.cases.front().wall().judged.floor.has_value(); }

/// The numbers of pairs that the cases have, which differ where pairs were added to some of them.
std::string pairs_text(const regress_result& all) {
  const auto pairs = [](const regress_case& one) { return one.wall().a.size(); };
  const std::size_t fewest = pairs(*std::ranges::min_element(all.cases, {}, pairs));
  const std::size_t most = most_pairs_of(all);
  return fewest == most ? fmt::format("{}", fewest) : fmt::format("{} to {}", fewest, most);
}

std::string void_sentence(const regress_case& control) {
  return fmt::format("VOID: the control {} moved by {}, so no verdict holds.\n", one_line(control.name),
                     change(control.measured.at(control.deciding()).judged.moved.estimate));
}

/// A sentence for each case: its verdict and the reason. The sentence on a control that moved comes first.
std::vector<std::string> verdict_lines(const regress_result& all) {
  std::vector<std::string> lines;
  if (const regress_case* moved = moved_control(all)) lines.push_back(void_sentence(*moved));
  for (const regress_case& one : all.cases) {
    lines.push_back(fmt::format("{} {}{}: {}.\n", to_string(one.called()), one.control ? "control " : "",
                                one_line(one.name), reason_of(all, one)));
  }
  for (const auto& [name, why] : all.left_out) {
    lines.push_back(fmt::format("not compared: {}: {}\n", one_line(name), one_line(why)));
  }
  return lines;
}

std::string heading(const regress_result& all) {
  std::string sides = fmt::format("A {}\nB {}\n", one_line(all.a), one_line(all.b));
  if (all.from_files) return sides;
  return sides + fmt::format("pairs of processes: {}; threshold {}; {}\n", pairs_text(all), percent(all.threshold),
                             has_floor(all) ? "floor from A against itself" : "no floor measured (--aa measures it)");
}

/// The table of the results: a row for each quantity of each case.
std::vector<table_row> result_rows(const regress_result& all) {
  std::vector<table_row> rows = {{"case", "measure", "A", "B", "B against A", "from", "to", "verdict"}};
  if (has_floor(all)) rows.front().emplace_back("floor");
  for (const regress_case& one : all.cases) {
    for (const auto& [what, pairs] : one.measured) {
      const judgement& found = pairs.judged;
      rows.push_back({one_line(one.name), std::string(to_string(what)), amount_text(what, pairs.a),
                      amount_text(what, pairs.b), change(found.moved.estimate), limit(all, found, found.moved.low),
                      limit(all, found, found.moved.high), std::string(to_string(found.called))});
      if (found.floor) rows.back().push_back(fmt::format("{:.1f} %", 100 * std::expm1(*found.floor)));
    }
  }
  return rows;
}

}  // namespace

std::string reason_of(const regress_result& all, const regress_case& one) {
  const quantity what = one.deciding();
  const std::string reason = reason_of(all, one, one.measured.at(what));
  if (what == quantity::wall_time) return reason;
  return fmt::format("{} decides, {}; wall time does not, {}", to_string(what), reason,
                     reason_of(all, one, one.wall()));
}

json as_json(const regress_result& all) {
  json rows = json::array(), left_out = json::array();
  for (const regress_case& one : all.cases) rows.push_back(row_json(all, one));
  for (const auto& [name, why] : all.left_out) left_out.push_back({{"name", name}, {"detail", why}});
  return described({{"a", all.a},
                    {"b", all.b},
                    {"from", all.from_files ? "files" : "pairs"},
                    {"pairs", most_pairs_of(all)},
                    {"interrupted", all.interrupted},
                    {"void", moved_control(all) != nullptr},
                    {"threshold", all.threshold},
                    {"error_rate", error_rate},
                    {"cases", rows},
                    {"left_out", left_out}});
}

std::string as_text(const regress_result& all) {
  return fmt::format("{}\n{}\n{}", heading(all), align(result_rows(all), 2), fmt::join(verdict_lines(all), ""));
}

std::string as_csv(const regress_result& all) {
  std::string text = "case,measure,verdict,ratio,ratio_low,ratio_high,a_median,b_median,pairs\n";
  for (const regress_case& one : all.cases) {
    for (const auto& [what, pairs] : one.measured) {
      const judgement& found = pairs.judged;
      const bool has_ends = !all.from_files && is_bounded(found);
      const auto end = [&](double x) { return has_ends ? fmt::format("{}", std::exp(x)) : ""; };
      text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_cell(one.name, ','), to_string(what),
                          to_string(found.called), std::exp(found.moved.estimate), end(found.moved.low),
                          end(found.moved.high), measure::median(pairs.a), measure::median(pairs.b), pairs.a.size());
    }
  }
  return text;
}

std::string as_markdown(const regress_result& all) {
  std::string text;
  for (const table_row& row : result_rows(all)) {
    const bool is_first = text.empty();
    for (const std::string& cell : row) text += fmt::format("| {} ", fmt::join(split(cell, '|'), "\\|"));
    text += "|\n";
    if (!is_first) continue;
    for (std::size_t i = 0; i < row.size(); ++i) text += i < 2 ? "|---" : "|---:";
    text += "|\n";
  }
  for (const std::string& line : verdict_lines(all)) text += "\n" + line;
  return text;
}

}  // namespace fanin::cli
