// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/pairs.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// The logarithms of the ratios of all pairs. Pairs of one layout share its luck, so they count once, with their
/// mean.
std::vector<double> log_ratios(const std::vector<double>& above, const std::vector<double>& below,
                               std::size_t layouts) {
  const std::size_t used = layouts == 0 ? above.size() : std::min(layouts, above.size());
  std::vector<double> all(used);
  for (std::size_t i = 0; i < above.size(); ++i) all[i % used] += std::log(above[i] / below[i]);
  for (std::size_t i = 0; i < used; ++i) all[i] /= static_cast<double>((above.size() - i - 1) / used + 1);
  return all;
}

bool is_among(const case_names& only, const std::string& name) {
  return !only || std::ranges::find(*only, name) != only->end();
}

/// The amount, or NaN if the process has none.
double amount_in(const measured& side, const std::string& name, quantity what) {
  const amounts& found = side.values.at(name);
  const auto known = found.find(what);
  return known == found.end() ? std::numeric_limits<double>::quiet_NaN() : known->second;
}

/// Whether the last pair lacks an amount.
bool has_gap(const paired_amounts& one) {
  return std::isnan(one.a.back()) || std::isnan(one.b.back()) ||
         (!one.a_again.empty() && std::isnan(one.a_again.back()));
}

regress_case new_case(const std::string& name, std::span<const measured> sides) {
  regress_case one{.name = name};
  for (const auto& [what, amount] : sides[0].values.at(name)) one.measured[what];
  return one;
}

}  // namespace

quantity regress_case::deciding() const {
  if (wall().judged.called != verdict::undecided) return quantity::wall_time;
  const auto found = std::ranges::find_if(measured, [](const auto& one) {
    const verdict called = one.second.judged.called;
    return called == verdict::slower || called == verdict::faster;
  });
  return found == measured.end() ? quantity::wall_time : found->first;
}

void add_pair(regress_result& all, std::span<const measured> sides, const case_names& only) {
  const auto known_case = [&](const std::string& name) {
    return std::ranges::find(all.cases, name, &regress_case::name);
  };
  const auto takes_times = [&](const std::string& name) {
    const auto known = known_case(name);
    return is_among(only, name) && (known == all.cases.end() || known->called() == verdict::undecided);
  };
  for (const measured& one : sides) {
    for (const std::string& name : one.names) {
      for (std::size_t i = 0; i < sides.size() && takes_times(name); ++i) {
        if (sides[i].values.contains(name)) continue;
        const auto problem = sides[i].problems.find(name);
        const bool absent = problem == sides[i].problems.end();
        all.left_out.emplace(name,
                             fmt::format("{}: {}", i == 1 ? "B" : "A", absent ? "no such case" : problem->second));
      }
    }
  }
  for (const std::string& name : sides[0].names) {
    if (all.left_out.contains(name) || !takes_times(name)) continue;
    auto known = known_case(name);
    if (known == all.cases.end()) known = all.cases.insert(known, new_case(name, sides));
    for (auto& [what, pairs] : known->measured) {
      if (pairs.judged.called != verdict::undecided) continue;
      pairs.a.push_back(amount_in(sides[0], name, what));
      pairs.b.push_back(amount_in(sides[1], name, what));
      if (sides.size() > 2) pairs.a_again.push_back(amount_in(sides[2], name, what));
    }
    std::erase_if(known->measured, [](const auto& one) { return has_gap(one.second); });
  }
  std::erase_if(all.cases, [&](const regress_case& one) { return all.left_out.contains(one.name); });
  if (all.cases.empty()) throw bad_data("A and B have no case in common");
}

std::size_t hypotheses_of(const regress_result& all) {
  std::size_t count = 0;
  for (const regress_case& one : all.cases) count += one.measured.size();
  return count;
}

void judge_cases(regress_result& all, double error, const case_names& only) {
  std::vector<paired_case> open;
  std::vector<judgement*> verdicts;
  for (regress_case& one : all.cases) {
    if (one.called() != verdict::undecided || !is_among(only, one.name)) continue;
    for (auto& [what, pairs] : one.measured) {
      if (pairs.judged.called != verdict::undecided) continue;
      open.push_back({log_ratios(pairs.b, pairs.a, all.layouts), log_ratios(pairs.a_again, pairs.a, all.layouts)});
      verdicts.push_back(&pairs.judged);
    }
  }
  const std::vector<judgement> judged =
      judge(open, std::log1p(all.threshold), error, hypotheses_of(all) - open.size());
  for (std::size_t i = 0; i < judged.size(); ++i) *verdicts[i] = judged[i];
}

std::vector<std::string> undecided_names(const regress_result& all, const case_names& only) {
  std::vector<std::string> names;
  for (const regress_case& one : all.cases) {
    if (one.called() == verdict::undecided && is_among(only, one.name)) names.push_back(one.name);
  }
  return names;
}

std::size_t most_pairs_of(const regress_result& all) {
  std::size_t most = 0;
  for (const regress_case& one : all.cases) most = std::max(most, one.wall().a.size());
  return most;
}

void mark_controls(regress_result& all, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    bool matched = false;
    for (regress_case& one : all.cases) {
      if (::fnmatch(pattern.c_str(), one.name.c_str(), 0) != 0) continue;
      one.control = matched = true;
    }
    if (!matched) throw usage_error(fmt::format("--control: no case matches '{}'", printable(pattern)));
  }
  if (std::ranges::all_of(all.cases, &regress_case::control)) {
    throw usage_error("--control: every case is a control, so none is left to compare");
  }
}

const regress_case* moved_control(const regress_result& all) {
  const auto moved = std::ranges::find_if(all.cases, [](const regress_case& one) {
    return one.control && (one.called() == verdict::slower || one.called() == verdict::faster);
  });
  return moved == all.cases.end() ? nullptr : &*moved;
}

void judge_files(regress_result& all) {
  for (regress_case& one : all.cases) {
    for (auto& [what, pair] : one.measured) {
      const double change = std::log(pair.b.front() / pair.a.front());
      pair.judged.moved.estimate = change;
      if (std::abs(change) >= std::log(2.0)) pair.judged.called = change > 0 ? verdict::slower : verdict::faster;
    }
  }
}

}  // namespace fanin::cli
