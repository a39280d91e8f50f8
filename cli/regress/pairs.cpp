// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/pairs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

std::vector<double> log_ratios(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> all;
  for (std::size_t i = 0; i < above.size(); ++i) all.push_back(std::log(above[i] / below[i]));
  return all;
}

bool is_among(const case_names& only, const std::string& name) {
  return !only || std::ranges::find(*only, name) != only->end();
}

}  // namespace

void add_pair(regress_result& all, std::span<const measured> sides, const case_names& only) {
  const auto known_case = [&](const std::string& name) {
    return std::ranges::find(all.cases, name, &regress_case::name);
  };
  const auto takes_times = [&](const std::string& name) {
    const auto known = known_case(name);
    return is_among(only, name) && (known == all.cases.end() || known->judged.called == verdict::undecided);
  };
  for (const measured& one : sides) {
    for (const std::string& name : one.names) {
      for (std::size_t i = 0; i < sides.size() && takes_times(name); ++i) {
        if (sides[i].seconds.contains(name)) continue;
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
    if (known == all.cases.end()) known = all.cases.insert(known, {.name = name, .a = {}, .b = {}, .a_again = {}});
    known->a.push_back(sides[0].seconds.at(name));
    known->b.push_back(sides[1].seconds.at(name));
    if (sides.size() > 2) known->a_again.push_back(sides[2].seconds.at(name));
  }
  std::erase_if(all.cases, [&](const regress_case& one) { return all.left_out.contains(one.name); });
  if (all.cases.empty()) throw bad_data("A and B have no case in common");
}

void judge_cases(regress_result& all, double error, const case_names& only) {
  std::vector<paired_case> open;
  std::vector<judgement*> verdicts;
  for (regress_case& one : all.cases) {
    if (one.judged.called != verdict::undecided || !is_among(only, one.name)) continue;
    open.push_back({log_ratios(one.b, one.a), log_ratios(one.a_again, one.a)});
    verdicts.push_back(&one.judged);
  }
  const std::vector<judgement> judged = judge(open, std::log1p(all.threshold), error, all.cases.size() - open.size());
  for (std::size_t i = 0; i < judged.size(); ++i) *verdicts[i] = judged[i];
}

std::vector<std::string> undecided_names(const regress_result& all, const case_names& only) {
  std::vector<std::string> names;
  for (const regress_case& one : all.cases) {
    if (one.judged.called == verdict::undecided && is_among(only, one.name)) names.push_back(one.name);
  }
  return names;
}

std::size_t most_pairs_of(const regress_result& all) {
  std::size_t most = 0;
  for (const regress_case& one : all.cases) most = std::max(most, one.a.size());
  return most;
}

void judge_files(regress_result& all) {
  for (regress_case& one : all.cases) {
    one.judged.moved.estimate = std::log(one.b.front() / one.a.front());
    if (std::abs(one.judged.moved.estimate) >= std::log(2.0)) {
      one.judged.called = one.judged.moved.estimate > 0 ? verdict::slower : verdict::faster;
    }
  }
}

}  // namespace fanin::cli
