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

}  // namespace

void add_pair(regress_result& all, std::span<const measured> sides) {
  const auto known_case = [&](const std::string& name) {
    return std::ranges::find(all.cases, name, &regress_case::name);
  };
  const auto is_decided = [&](const std::string& name) {
    const auto known = known_case(name);
    return known != all.cases.end() && known->judged.called != verdict::undecided;
  };
  for (const measured& one : sides) {
    for (const std::string& name : one.names) {
      for (std::size_t i = 0; i < sides.size() && !is_decided(name); ++i) {
        if (sides[i].seconds.contains(name)) continue;
        const auto problem = sides[i].problems.find(name);
        const bool absent = problem == sides[i].problems.end();
        all.left_out.emplace(name,
                             fmt::format("{}: {}", i == 1 ? "B" : "A", absent ? "no such case" : problem->second));
      }
    }
  }
  for (const std::string& name : sides[0].names) {
    if (all.left_out.contains(name) || is_decided(name)) continue;
    auto known = known_case(name);
    if (known == all.cases.end()) known = all.cases.insert(known, {.name = name, .a = {}, .b = {}, .a_again = {}});
    known->a.push_back(sides[0].seconds.at(name));
    known->b.push_back(sides[1].seconds.at(name));
    if (sides.size() > 2) known->a_again.push_back(sides[2].seconds.at(name));
  }
  std::erase_if(all.cases, [&](const regress_case& one) { return all.left_out.contains(one.name); });
  ++all.pairs_done;
  if (all.cases.empty()) throw bad_data("A and B have no case in common");
}

void judge_cases(regress_result& all, double error) {
  std::vector<paired_case> open;
  for (const regress_case& one : all.cases) {
    if (one.judged.called != verdict::undecided) continue;
    open.push_back({log_ratios(one.b, one.a), log_ratios(one.a_again, one.a)});
  }
  std::vector<judgement> judged = judge(open, std::log1p(all.threshold), error, all.cases.size() - open.size());
  auto next = judged.begin();
  for (regress_case& one : all.cases) {
    if (one.judged.called == verdict::undecided) one.judged = *next++;
  }
}

std::vector<std::string> undecided_names(const regress_result& all) {
  std::vector<std::string> names;
  for (const regress_case& one : all.cases) {
    if (one.judged.called == verdict::undecided) names.push_back(one.name);
  }
  return names;
}

void judge_files(regress_result& all) {
  all.pairs_wanted = 1;
  for (regress_case& one : all.cases) {
    one.judged.moved.estimate = std::log(one.b.front() / one.a.front());
    if (std::abs(one.judged.moved.estimate) >= std::log(2.0)) {
      one.judged.called = one.judged.moved.estimate > 0 ? verdict::slower : verdict::faster;
    }
  }
}

}  // namespace fanin::cli
