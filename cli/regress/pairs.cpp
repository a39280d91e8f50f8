// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/pairs.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/json.hpp"

namespace fanin::cli {

namespace {

/// @throws bad_data, which names `from`
json parsed(const std::string& from, const std::string& text) {
  try {
    return json::parse(text, check_depth);
  } catch (const bad_data& problem) {
    throw bad_data(fmt::format("{}: {}", from, problem.what()));
  }
}

std::vector<double> log_ratios(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> all;
  for (std::size_t i = 0; i < above.size(); ++i) all.push_back(std::log(above[i] / below[i]));
  return all;
}

}  // namespace

measured read_result(const std::string& from, const std::string& text) {
  measured all;
  try {
    const json whole = parsed(from, text);
    all.machine = whole.at("context").value("machine", "");
    const auto new_name = [&](const json& row) {
      const auto name = row.at("name").get<std::string>();
      if (std::ranges::find(all.names, name) != all.names.end()) {
        throw bad_data(fmt::format("{}: {} stands there twice", from, name));
      }
      return all.names.emplace_back(name);
    };
    for (const json& row : whole.at("benchmarks")) {
      const std::string name = new_name(row);
      all.seconds[name] = checked_amount(row.at("seconds").get<double>(), fmt::format("{}: {}: seconds", from, name));
    }
    for (const json& row : whole.value("not_timed", json::array())) {
      const std::string name = new_name(row);
      all.problems[name] = row.at("error_message").get<std::string>();
      if (row.at("verified") == false) throw bad_data(fmt::format("{}: {}: {}", from, name, all.problems[name]));
    }
  } catch (const json::exception& problem) {
    throw bad_data(fmt::format("{}: not a result of 'fanin bench --json': {}", from, problem.what()));
  }
  return all;
}

void add_pair(regress_result& all, std::span<const measured> sides) {
  for (const measured& one : sides) {
    for (const std::string& name : one.names) {
      for (std::size_t i = 0; i < sides.size(); ++i) {
        if (sides[i].seconds.contains(name)) continue;
        const auto problem = sides[i].problems.find(name);
        const bool absent = problem == sides[i].problems.end();
        all.left_out[name] = fmt::format("{}: {}", i == 1 ? "B" : "A", absent ? "no such case" : problem->second);
      }
    }
  }
  for (const std::string& name : sides[0].names) {
    if (all.left_out.contains(name)) continue;
    auto known = std::ranges::find(all.cases, name, &regress_case::name);
    if (known == all.cases.end()) known = all.cases.insert(known, {.name = name, .a = {}, .b = {}, .a_again = {}});
    known->a.push_back(sides[0].seconds.at(name));
    known->b.push_back(sides[1].seconds.at(name));
    if (sides.size() > 2) known->a_again.push_back(sides[2].seconds.at(name));
  }
  std::erase_if(all.cases, [&](const regress_case& one) { return all.left_out.contains(one.name); });
  ++all.pairs_done;
  if (all.cases.empty()) throw bad_data("A and B have no case in common");
}

void judge_cases(regress_result& all) {
  std::vector<paired_case> cases;
  for (const regress_case& one : all.cases) {
    cases.push_back({log_ratios(one.b, one.a), log_ratios(one.a_again, one.a)});
  }
  const std::vector<judgement> judged = judge(cases, std::log1p(all.threshold));
  for (std::size_t i = 0; i < judged.size(); ++i) all.cases[i].judged = judged[i];
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
