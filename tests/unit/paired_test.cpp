// SPDX-License-Identifier: Apache-2.0
// Tests of the statistics of `fanin regress`: p-values against an enumeration of all signs, and verdicts of whole
// runs on simulated machines.
#include "cli/regress/paired_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cli/regress/pairs.hpp"

namespace fanin::cli {
namespace {

/// The p-value by its definition: the share of all choices of signs whose positive mid-ranks have at least the same
/// sum.
double p_by_enumeration(const std::vector<double>& x) {
  std::vector<double> ranks;
  double reached = 0;
  for (const double one : x) {
    double rank = 0.5;
    for (const double other : x) {
      rank += std::abs(other) < std::abs(one) ? 1 : std::abs(other) == std::abs(one) ? 0.5 : 0;
    }
    ranks.push_back(rank);
    if (one > 0) reached += rank;
  }
  const std::size_t choices = std::size_t{1} << ranks.size();
  std::size_t as_large = 0;
  for (std::size_t signs = 0; signs < choices; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += (signs >> i & 1) != 0 ? ranks[i] : 0;
    as_large += sum >= reached ? 1 : 0;
  }
  return static_cast<double>(as_large) / static_cast<double>(choices);
}

/// A model of how the times of consecutive processes vary. Amounts are relative to the time.
struct machine {
  std::string name;
  double process = 0;  ///< standard deviation of a case's time from process to process
  double common = 0;   ///< standard deviation that all cases of a process share
  double memory = 0;   ///< correlation of a case's deviation with that in the process before
  double drift = 0;    ///< change from the first process to the last
  double outlier = 0;  ///< probability that all cases of a process take 30 % longer
};

const machine quiet = {.name = "1 %", .process = 0.01};
const machine two_percent = {.name = "2 %", .process = 0.02};
const machine shared_noise = {.name = "2 %, half of it shared", .process = 0.014, .common = 0.014};
const machine remembering = {.name = "2 %, remembered", .process = 0.02, .memory = 0.5};
const machine drifting = {.name = "1 %, drifting", .process = 0.01, .drift = 0.2};
const machine rough = {.name = "5 %, outliers", .process = 0.05, .memory = 0.5, .outlier = 0.1};
const machine wild = {.name = "20 %", .process = 0.2};

/// A run of `fanin regress`. The first `slow` cases take `ratio` times as long in B as in A.
struct plan {
  std::size_t cases, pairs;
  double ratio = 1;
  std::size_t slow = 1;
  bool floor = false;
  std::size_t first_look = 0;  ///< pairs before the first of several looks; 0 for one look after all pairs
  bool corrected = true;       ///< whether the looks share the error
  bool apart = false;          ///< whether every case has looks of its own
};

/// The logarithms of the times of all cases in one process. `at` is the position of the process in the run, from 0
/// to 1.
std::vector<double> process_times(const machine& simulated, std::vector<double>& state, double at,
                                  std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const bool outlier = std::uniform_real_distribution<double>()(random) < simulated.outlier;
  const double common =
      simulated.common * normal(random) + std::log1p(simulated.drift * at) + (outlier ? std::log(1.3) : 0);
  std::vector<double> times;
  for (double& one : state) {
    one = simulated.memory * one + std::sqrt(1 - simulated.memory * simulated.memory) * normal(random);
    times.push_back(common + simulated.process * one);
  }
  return times;
}

std::vector<paired_case> simulate(const machine& simulated, const plan& how, std::mt19937_64& random) {
  std::vector<paired_case> all(how.cases);
  std::vector<double> state(how.cases);
  for (double& one : state) one = std::normal_distribution<double>()(random);
  std::vector<std::vector<double>> sides(how.floor ? 3 : 2);
  for (std::size_t pair = 0; pair < how.pairs; ++pair) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::size_t done = pair * sides.size() + i;
      const double at = static_cast<double>(done) / static_cast<double>(how.pairs * sides.size());
      sides[pair % 2 == 0 ? i : sides.size() - 1 - i] = process_times(simulated, state, at, random);
    }
    for (std::size_t i = 0; i < how.slow; ++i) sides[1][i] += std::log(how.ratio);
    for (std::size_t i = 0; i < how.cases; ++i) {
      all[i].b_over_a.push_back(sides[1][i] - sides[0][i]);
      if (how.floor) all[i].a_over_a.push_back(sides[2][i] - sides[0][i]);
    }
  }
  return all;
}

constexpr double threshold_ratio = 1.03;
constexpr std::size_t runs = 1500;

/// Judges the simulated cases as a run does that adds pairs: first after `first_look` pairs and at last after all.
/// Without `corrected` every look has the error of a single one.
std::vector<judgement> judge_repeatedly(const std::vector<paired_case>& simulated, const plan& how) {
  regress_result all{.a = "a", .b = "b", .threshold = threshold_ratio - 1, .cases = {}, .left_out = {}};
  all.cases.resize(simulated.size());
  for (std::size_t i = 0; i < simulated.size(); ++i) {
    all.cases[i] = {.name = std::to_string(i), .measured = {{quantity::wall_time, {}}}};
  }
  const std::size_t pairs = simulated[0].b_over_a.size();
  std::size_t looks = 0;
  for (std::size_t done = 0, next = how.first_look; done < pairs; done = next, next = std::min(2 * next, pairs)) {
    for (std::size_t i = 0; i < simulated.size(); ++i) {
      paired_amounts& one = all.cases[i].measured[quantity::wall_time];
      for (std::size_t k = done; k < next && one.judged.called == verdict::undecided; ++k) {
        one.a.push_back(1);
        one.b.push_back(std::exp(simulated[i].b_over_a[k]));
      }
    }
    ++looks;
    const double error = !how.corrected ? error_rate : next == pairs ? error_of_last_look : error_of_look(looks);
    if (!how.apart) judge_cases(all, error);
    for (std::size_t i = 0; how.apart && i < all.cases.size(); ++i) judge_cases(all, error, {{std::to_string(i)}});
  }
  std::vector<judgement> judged;
  for (const regress_case& one : all.cases) judged.push_back(one.wall().judged);
  return judged;
}

/// The numbers of runs that call their first case slower or the same, and of runs that call any case slower.
struct tally {
  std::size_t slower = 0, same = 0, any_slower = 0;
};

tally count_verdicts(const machine& simulated, const plan& how, std::size_t runs_wanted = runs) {
  std::mt19937_64 random(1);
  tally count;
  for (std::size_t run = 0; run < runs_wanted; ++run) {
    const std::vector<paired_case> cases = simulate(simulated, how, random);
    const std::vector<judgement> all =
        how.first_look > 0 ? judge_repeatedly(cases, how) : judge(cases, std::log(threshold_ratio));
    count.slower += all[0].called == verdict::slower ? 1 : 0;
    count.same += all[0].called == verdict::same ? 1 : 0;
    count.any_slower += std::ranges::count(all, verdict::slower, &judgement::called) > 0 ? 1 : 0;
  }
  return count;
}

/// The probability that an event of probability p happens at most `count` times in `total` runs.
double at_most(std::size_t count, double p, std::size_t total) {
  double log_term = static_cast<double>(total) * std::log1p(-p), sum = 0;
  for (std::size_t i = 0; i <= count; ++i) {
    sum += std::exp(log_term);
    log_term += std::log(static_cast<double>(total - i) / static_cast<double>(i + 1) * p / (1 - p));
  }
  return sum;
}

/// Whether a count in `total` runs refutes, at a level of 1 %, that the probability of an event is at least p, or at
/// most p.
bool proves_below(std::size_t count, double p, std::size_t total = runs) { return at_most(count, p, total) < 0.01; }
bool proves_above(std::size_t count, double p, std::size_t total = runs) {
  return at_most(total - count, 1 - p, total) < 0.01;
}

TEST_SUITE("unit/paired_test") {
  TEST_CASE("signed ranks: the p-value counts all choices of signs") {
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 300; ++trial) {
      std::vector<double> x(1 + random() % 12);
      const std::uint64_t values = trial % 3 == 0 ? 1000000 : 2 + trial % 9;  // Few values give many ties.
      for (double& one : x) one = static_cast<double>(random() % (2 * values + 1)) - static_cast<double>(values);
      CAPTURE(x.size());
      CHECK(signed_rank_p(x) == p_by_enumeration(x));
    }
    CHECK(signed_rank_p({}) == 1);
    CHECK(signed_rank_p(std::vector<double>(12, 1.0)) == std::ldexp(1.0, -12));
    CHECK(signed_rank_p(std::vector<double>(12, 0.0)) == 1);
  }

  TEST_CASE("Holm's adjustment") {
    CHECK(holm(std::vector<double>{0.25, 0.0625, 0.125}) == std::vector<double>{0.25, 0.1875, 0.25});
    CHECK(holm(std::vector<double>{0.5, 0.75}) == std::vector<double>{1, 1});
    CHECK(holm({}).empty());
  }

  TEST_CASE("how many pairs it takes at least") {
    CHECK(pairs_needed(1) == least_pairs);
    CHECK(pairs_needed(40) == 12);
    CHECK(pairs_needed(41) == 13);
    const auto all_slower = [](std::size_t cases, std::size_t pairs) {
      const std::vector<paired_case> same(cases, {.b_over_a = std::vector<double>(pairs, 0.1), .a_over_a = {}});
      return judge(std::span(same), std::log(threshold_ratio))[0].called;
    };
    CHECK(all_slower(40, 12) == verdict::slower);
    CHECK(all_slower(41, 12) == verdict::undecided);
    CHECK(all_slower(41, 13) == verdict::slower);
    CHECK(all_slower(1, least_pairs) == verdict::slower);
    CHECK(all_slower(1, least_pairs - 1) == verdict::undecided);
  }

  TEST_CASE("a change below the floor is not called") {
    paired_case one;
    for (int i = 0; i < 12; ++i) {
      one.b_over_a.push_back(0.06 + 0.001 * i);
      one.a_over_a.push_back(i % 2 == 0 ? 0.1 : -0.1);
    }
    const judgement found = judge(std::span(&one, 1), std::log(threshold_ratio))[0];
    CHECK(found.called == verdict::undecided);
    CHECK(found.hidden);
    CHECK_FALSE(found.pairs_to_decide.has_value());
    for (double& shift : one.b_over_a) shift = -shift - 0.1;
    CHECK(judge(std::span(&one, 1), std::log(threshold_ratio))[0].called == verdict::faster);
  }

  TEST_CASE("A against A: at most one run in a hundred calls any of 20 cases slower") {
    for (const machine& simulated : {quiet, two_percent, shared_noise, remembering, drifting, rough, wild}) {
      const tally without = count_verdicts(simulated, {.cases = 20, .pairs = 15});
      CAPTURE(simulated.name);
      CAPTURE(without.any_slower);
      CHECK(proves_below(without.any_slower, 0.01));
    }
  }

  TEST_CASE("all of 20 cases slower by just the threshold: not above one run in a hundred") {
    const tally count = count_verdicts(two_percent, {.cases = 20, .pairs = 15, .ratio = threshold_ratio, .slow = 20});
    CAPTURE(count.any_slower);
    CHECK_FALSE(proves_above(count.any_slower, 0.01));
  }

  TEST_CASE("10 % slower: found in 95 of 100 runs at least, and never called the same") {
    const auto check = [](const machine& simulated, const plan& how) {
      const tally count = count_verdicts(simulated, how);
      CAPTURE(simulated.name);
      CAPTURE(how.cases);
      CAPTURE(count.slower);
      CHECK(proves_above(count.slower, 0.95));
      CHECK(proves_below(count.same, 0.01));
    };
    for (const machine& simulated : {quiet, two_percent, shared_noise, remembering, drifting}) {
      check(simulated, {.cases = 1, .pairs = 12, .ratio = 1.1});
      check(simulated, {.cases = 20, .pairs = 15, .ratio = 1.1});
    }
    check(two_percent, {.cases = 40, .pairs = 16, .ratio = 1.1});
    check(two_percent, {.cases = 20, .pairs = 15, .ratio = 1.1, .floor = true});
  }

  TEST_CASE("looks at added pairs: the errors sum to that of one look") {
    double sum = error_of_last_look;
    for (std::size_t k = 1; k <= 10000; ++k) sum += error_of_look(k);
    CHECK(sum <= error_rate);
    CHECK(sum == doctest::Approx(error_rate).epsilon(1e-4));
    CHECK(holm(std::vector<double>{0.25, 0.0625, 0.125}, 1) == std::vector<double>{0.5, 0.25, 0.375});
  }

  TEST_CASE("looks at added pairs: decided cases keep their verdicts and count in the adjustment") {
    const auto called_beside = [](std::size_t decided) {
      regress_result all{.a = "a", .b = "b", .threshold = threshold_ratio - 1, .cases = {}, .left_out = {}};
      all.cases.resize(decided + 1);
      for (regress_case& one : all.cases) {
        const std::vector<double> a(12, 1), b(12, 1.2);
        one.measured[quantity::wall_time] = {.a = a, .b = b, .judged = {.called = verdict::same}};
      }
      all.cases.back().measured[quantity::wall_time].judged.called = verdict::undecided;
      judge_cases(all);
      CHECK(all.cases.front().called() == verdict::same);
      return all.cases.back().called();
    };
    CHECK(called_beside(39) == verdict::slower);
    CHECK(called_beside(40) == verdict::undecided);
  }

  TEST_CASE("a change of the size that an undecided case says to be visible would have been called") {
    const machine noisy{.name = "5 %", .process = 0.05};
    std::mt19937_64 random(5);
    std::size_t tried = 0, found = 0, of_half = 0;
    const auto is_slower = [](paired_case one, double change) {
      for (double& shift : one.b_over_a) shift += change;
      return judge(std::span(&one, 1), std::log(threshold_ratio))[0].called == verdict::slower ? 1 : 0;
    };
    while (tried < runs) {
      const std::vector<paired_case> unchanged = simulate(noisy, {.cases = 1, .pairs = 12}, random);
      const judgement first = judge(unchanged, std::log(threshold_ratio))[0];
      if (!first.visible) continue;
      ++tried;
      found += is_slower(unchanged[0], *first.visible);
      of_half += is_slower(unchanged[0], *first.visible / 2);
    }
    CAPTURE(found);
    CAPTURE(of_half);
    CHECK(proves_above(found, 0.97));
    CHECK(proves_below(of_half, 0.5));
  }

  TEST_CASE("A against A on a quiet machine is the same") {
    CHECK(proves_above(count_verdicts(quiet, {.cases = 1, .pairs = 12}).same, 0.95));
  }

  TEST_CASE("the number of pairs said to decide a case decides it, and a quarter of it seldom does") {
    const machine noisy{.name = "5 %", .process = 0.05};
    std::mt19937_64 random(3);
    const auto decides = [&](double pairs) {
      const plan how{.cases = 1, .pairs = static_cast<std::size_t>(pairs), .ratio = 1.1};
      return judge(simulate(noisy, how, random), std::log(threshold_ratio))[0].called != verdict::undecided;
    };
    std::size_t tried = 0, by_all = 0, by_quarter = 0;
    for (std::size_t run = 0; run < runs; ++run) {
      const plan how{.cases = 1, .pairs = 12, .ratio = 1.1};
      const judgement first = judge(simulate(noisy, how, random), std::log(threshold_ratio))[0];
      if (!first.pairs_to_decide || *first.pairs_to_decide > 100) continue;
      ++tried;
      by_all += decides(*first.pairs_to_decide) ? 1 : 0;
      by_quarter += decides(*first.pairs_to_decide / 4) ? 1 : 0;
    }
    CAPTURE(tried);
    CAPTURE(by_all);
    CAPTURE(by_quarter);
    CHECK(tried > 300);
    CHECK(by_all > tried * 3 / 4);
    CHECK(by_quarter < tried / 2);
  }
}

// These cases judge thousands of runs after several looks.
TEST_SUITE("unit/regress_rates") {
  TEST_CASE("looks at added pairs, A against A: at most one run in a hundred calls any of 20 cases slower") {
    constexpr std::size_t total = 500;
    for (const machine& simulated : {quiet, two_percent, shared_noise, remembering, drifting, rough, wild}) {
      const tally count = count_verdicts(simulated, {.cases = 20, .pairs = 48, .first_look = 16}, total);
      CAPTURE(simulated.name);
      CAPTURE(count.any_slower);
      CHECK(proves_below(count.any_slower, 0.01, total));
    }
  }

  TEST_CASE("looks at added pairs, a case slower by just the threshold: one run in a hundred calls it at most") {
    constexpr std::size_t total = 20000;
    plan how{.cases = 1, .pairs = 40, .ratio = threshold_ratio, .first_look = 12};
    const tally corrected = count_verdicts(two_percent, how, total);
    CAPTURE(corrected.slower);
    CAPTURE(corrected.same);
    CHECK(proves_below(corrected.slower, 0.01, total));
    CHECK(proves_below(corrected.same, 0.01, total));
    how.corrected = false;
    const tally without = count_verdicts(two_percent, how, total);
    CAPTURE(without.slower);
    CAPTURE(without.same);
    CHECK(proves_above(without.slower, 0.01, total));
    CHECK(proves_above(without.same, 0.01, total));
  }

  TEST_CASE("looks at each case apart, all of 20 slower by just the threshold: not above one run in a hundred") {
    constexpr std::size_t total = 400;
    plan how{.cases = 20, .pairs = 48, .ratio = threshold_ratio, .slow = 20, .first_look = 16, .apart = true};
    const tally corrected = count_verdicts(two_percent, how, total);
    CAPTURE(corrected.any_slower);
    CHECK_FALSE(proves_above(corrected.any_slower, 0.01, total));
    how.corrected = false;
    const tally without = count_verdicts(two_percent, how, total);
    CAPTURE(without.any_slower);
    CHECK(proves_above(without.any_slower, 0.01, total));
  }

  TEST_CASE("looks at added pairs find what one look at the first pairs leaves undecided") {
    const machine noisy{.name = "5 %", .process = 0.05};
    constexpr std::size_t total = 300;
    const tally once = count_verdicts(noisy, {.cases = 10, .pairs = 14, .ratio = 1.1}, total);
    const tally added = count_verdicts(noisy, {.cases = 10, .pairs = 56, .ratio = 1.1, .first_look = 14}, total);
    CAPTURE(once.slower);
    CAPTURE(added.slower);
    CHECK(proves_below(once.slower, 0.5, total));
    CHECK(proves_above(added.slower, 0.95, total));
    CHECK(proves_below(added.same, 0.02, total));
  }
}

}  // namespace
}  // namespace fanin::cli
