// SPDX-License-Identifier: Apache-2.0
#include "cli/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "cli/kit/text.hpp"
#include "cli/report/charts.hpp"
#include "measure/ceiling.hpp"

namespace fanin::cli::charts {

namespace {

// The marks that the verdicts name.
constexpr double least_share = 0.9, most_extra_time = 0.25;

outcome met_if(bool holds) { return holds ? outcome::met : outcome::missed; }

bool is_of_another_library(const measurement& one) {
  constexpr std::string_view others[] = {"cub", "thrust", "peer"};
  return std::ranges::find(others, one.backend) != std::end(others);
}

/// The largest plain sums of f32, and among them the fastest first. Sums by other libraries come last.
std::vector<measurement> largest_plain_sums(const results& all) {
  std::vector<measurement> sums = cases_of_default_data(all);
  std::erase_if(sums, [](const measurement& one) {
    return one.operation != "sum" || one.type != "f32" || one.method != "fast";
  });
  if (sums.empty()) return {};
  const auto order = [](const measurement& one) {
    return std::tuple(is_of_another_library(one), -one.count, one.seconds);
  };
  const double count = std::ranges::min(sums, {}, order).count;
  std::erase_if(sums, [&](const measurement& one) { return one.count != count; });
  sums = latest(sums);
  std::ranges::stable_sort(sums, {}, order);
  return sums;
}

key_number share_number(double share, std::string name, std::string detail, std::string section) {
  const bool holds = share >= least_share && !measure::exceeds_ceiling(share);
  return {fmt::format("{:.0f} %", 100 * share),
          std::move(name),
          std::move(detail),
          measure::exceeds_ceiling(share) ? "the ceiling was measured too low"
          : holds                         ? "memory is the limit: 90 % or more"
                                          : "memory is not the limit: below 90 %",
          met_if(holds),
          std::move(section)};
}

/// The number, whose mark says nothing of the program if its times were disturbed.
key_number with_doubt(key_number one, bool disturbed) {
  if (!disturbed) return one;
  one.verdict = "measured on a disturbed machine; " + one.verdict;
  one.reached = outcome::undecided;
  return one;
}

std::optional<key_number> slower_cases(const results& all) {
  std::size_t cases = 0, slower = 0, undecided = 0;
  for (const comparison& one : all.comparisons) {
    cases += one.cases.size();
    slower += static_cast<std::size_t>(std::ranges::count(one.cases, "SLOWER", &comparison::judged::verdict));
    undecided += static_cast<std::size_t>(std::ranges::count(one.cases, "UNDECIDED", &comparison::judged::verdict));
  }
  if (cases == 0) return {};
  return key_number{fmt::format("{} of {}", slower, cases),
                    "cases are slower in build B than in build A",
                    fmt::format("{} undecided", undecided),
                    slower > 0      ? "B is slower"
                    : undecided > 0 ? "undecided: B may be slower"
                                    : "no case is slower",
                    slower > 0      ? outcome::missed
                    : undecided > 0 ? outcome::undecided
                                    : outcome::met,
                    "samples"};
}

std::optional<key_number> plain_sum(const results& all) {
  const std::vector<measurement> sums = largest_plain_sums(all);
  if (sums.empty() || is_of_another_library(sums.front())) return {};
  const measurement& best = sums.front();
  const auto read = ceilings_where(all, [&](const measurement& one) {
    return std::tie(one.from, one.operation, one.type) == std::tie(best.from, best.operation, best.type);
  });
  const double share = share_of(read, best);
  if (share == 0) return {};
  std::string detail =
      fmt::format("{} reads {} GB/s, sum of f32, n = {}, {}", name_of(best), number_text(best.gigabytes_per_second()),
                  count_text(best.count), best.from.machine);
  const auto other = std::ranges::find_if(sums, is_of_another_library);
  if (other != sums.end()) {
    detail += fmt::format("; {} reads {} GB/s", name_of(*other), number_text(other->gigabytes_per_second()));
  }
  return with_doubt(share_number(share, "the plain sum's share of the read ceiling", detail, "throughput"),
                    best.disturbed);
}

std::optional<key_number> exact_time(const results& all) {
  const std::vector<measurement> sums = largest_plain_sums(all);
  if (sums.empty()) return {};
  const measurement& plain = sums.front();
  for (const measurement& one : cases_of_default_data(all)) {
    const auto key = [](const measurement& x) { return std::tie(x.from, x.operation, x.type, x.backend, x.count); };
    if (one.method != "exact" || key(one) != key(plain)) continue;
    const double extra = one.seconds / plain.seconds - 1;
    const bool holds = extra <= most_extra_time;
    const key_number found{
        change_text(extra),
        "the exact sum's time over the plain sum's, uniform data",
        fmt::format("{} reads {} GB/s, plain {} GB/s, sum of f32, n = {}, {}", name_of(one),
                    number_text(one.gigabytes_per_second()), number_text(plain.gigabytes_per_second()),
                    count_text(one.count), one.from.machine),
        holds ? "at most 25 % longer" : "more than 25 % longer",
        met_if(holds),
        "throughput"};
    return with_doubt(found, one.disturbed || plain.disturbed);
  }
  return {};
}

std::optional<key_number> exact_error(const results& all) {
  std::size_t exact_sums = 0;
  double worst = 0, worst_of_others = 0;
  const auto add = [&](const std::string& method, double error) {
    if (!std::isfinite(error)) return;  // The exact sum is no finite number.
    exact_sums += method == "exact";
    double& most = method == "exact" ? worst : worst_of_others;
    most = std::max(most, error);
  };
  for (const accuracy_result& one : all.accuracies) add(one.method, one.error_ulps);
  for (const compare_result& one : all.compared) {
    for (const compare_result::row& row : one.rows) add(row.method, row.error_ulps);
  }
  if (exact_sums == 0) return {};
  return key_number{number_text(worst) + " ulp",
                    "the largest error of an exact sum",
                    fmt::format("of {} exact sums; of the others: {} ulp", exact_sums, number_text(worst_of_others)),
                    worst == 0 ? "0: correctly rounded" : "not correctly rounded",
                    met_if(worst == 0),
                    all.accuracies.empty() ? "compare" : "accuracy"};
}

std::optional<key_number> values_right(const results& all) {
  const auto [made, broken] = all.checks;
  if (made == 0) return {};
  return key_number{fmt::format("{} of {}", made - broken, made),
                    "checked values are right",
                    "each within its proven bound, or with the bits of the exact result",
                    broken == 0 ? "no value is wrong" : fmt::format("{} wrong", broken),
                    met_if(broken == 0),
                    ""};
}

std::optional<key_number> end_of_ladder(const results& all) {
  if (all.ladders.empty()) return {};
  const ladder_result ladder = ladders_in_order(all).front();
  const auto is_stage = [](const ladder_result::rung& one) {
    return !one.number.empty() && one.gigabytes_per_second.has_value();
  };
  const auto first = std::ranges::find_if(ladder.rungs, is_stage);
  const auto last = std::find_if(ladder.rungs.rbegin(), ladder.rungs.rend(), is_stage);
  if (first == ladder.rungs.end()) return {};
  const double rate = *last->gigabytes_per_second;
  return share_number(
      rate / ladder.ceiling_gigabytes_per_second, "the last ladder stage's share of the read ceiling",
      fmt::format("{} {} reads {:.1f} times as fast as {} {}, {} of {}, n = {}, {}", last->number, last->stage,
                  rate / *first->gigabytes_per_second, first->number, first->stage, spoken(ladder.operation),
                  ladder.type, count_text(ladder.count), ladder.from.machine),
      "ladder");
}

std::optional<key_number> disturbed_cases(const results& all) {
  std::size_t cases = 0, disturbed = 0;
  double noise = 0;
  for (const measurement& one : all.measurements) {
    if (!one.noise || one.backend == ceiling) continue;
    ++cases;
    disturbed += one.disturbed;
    noise = std::max(noise, *one.noise);
  }
  if (cases == 0) return {};
  return key_number{
      fmt::format("{} of {}", disturbed, cases),
      "timed cases were disturbed",
      fmt::format("by other load, throttling or a read ceiling measured too low; noise at most {:.1f} %",
                  100 * noise),
      disturbed == 0 ? "a quiet machine" : "read these times with care",
      met_if(disturbed == 0),
      "throughput"};
}

}  // namespace

std::vector<key_number> key_numbers(const results& all) {
  constexpr std::size_t most = 5;
  std::vector<key_number> numbers;
  for (const auto compute :
       {slower_cases, plain_sum, exact_time, exact_error, values_right, end_of_ladder, disturbed_cases}) {
    auto found = compute(all);
    if (found) numbers.push_back(*std::move(found));
  }
  while (numbers.size() > most) {  // What is not met is never left out for want of room.
    const auto last = std::find_if(numbers.rbegin(), numbers.rend(),
                                   [](const key_number& one) { return one.reached == outcome::met; });
    numbers.erase(last == numbers.rend() ? numbers.end() - 1 : std::next(last).base());
  }
  return numbers;
}

}  // namespace fanin::cli::charts
