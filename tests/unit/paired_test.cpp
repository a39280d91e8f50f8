// SPDX-License-Identifier: Apache-2.0
// Tests of the statistics of `fanin regress`: p-values against an enumeration of all signs, and verdicts of whole
// runs on simulated machines.
#include "cli/regress/paired_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

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
const machine usual = {.name = "2 %", .process = 0.02};
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

/// The numbers of runs that call their first case slower or the same, and of runs that call any case slower.
struct tally {
  std::size_t slower = 0, same = 0, any_slower = 0;
};

tally count_verdicts(const machine& simulated, const plan& how) {
  std::mt19937_64 random(1);
  tally count;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::vector<judgement> all = judge(simulate(simulated, how, random), std::log(threshold_ratio));
    count.slower += all[0].called == verdict::slower ? 1 : 0;
    count.same += all[0].called == verdict::same ? 1 : 0;
    count.any_slower += std::ranges::count(all, verdict::slower, &judgement::called) > 0 ? 1 : 0;
  }
  return count;
}

/// The probability that an event of probability p happens at most `count` times in `runs` runs.
double at_most(std::size_t count, double p) {
  double log_term = static_cast<double>(runs) * std::log1p(-p), sum = 0;
  for (std::size_t i = 0; i <= count; ++i) {
    sum += std::exp(log_term);
    log_term += std::log(static_cast<double>(runs - i) / static_cast<double>(i + 1) * p / (1 - p));
  }
  return sum;
}

/// Whether a count in `runs` runs refutes, at a level of 1 %, that the probability of an event is at least p, or at
/// most p.
bool proves_below(std::size_t count, double p) { return at_most(count, p) < 0.01; }
bool proves_above(std::size_t count, double p) { return at_most(runs - count, 1 - p) < 0.01; }

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

  TEST_CASE("the interval holds the shifts that the test does not reject") {
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal;
    for (std::size_t n = least_pairs; n < 30; ++n) {
      std::vector<double> x(n);
      for (double& one : x) one = normal(random);
      const auto p_without = [&](double shift, double sign) {
        std::vector<double> rest = x;
        for (double& one : rest) one = sign * (one - shift);
        return signed_rank_p(rest);
      };
      const shift found = shift_of(x, error_rate);
      constexpr double nearby = 1e-9;
      CHECK(p_without(found.low - nearby, 1) <= error_rate);
      CHECK(p_without(found.low + nearby, 1) > error_rate);
      CHECK(p_without(found.high + nearby, -1) <= error_rate);
      CHECK(p_without(found.high - nearby, -1) > error_rate);
      CHECK(found.low < found.estimate);
      CHECK(found.estimate < found.high);
    }
    const shift of_few = shift_of(std::vector<double>{1, 2, 30}, error_rate);
    CHECK(of_few.estimate == 8.75);  // The median of the pairwise means 1, 1.5, 2, 15.5, 16 and 30.
    CHECK(of_few.low == -std::numeric_limits<double>::infinity());
    CHECK(of_few.high == std::numeric_limits<double>::infinity());
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
    for (const machine& simulated : {quiet, usual, shared_noise, remembering, drifting, rough, wild}) {
      const tally without = count_verdicts(simulated, {.cases = 20, .pairs = 15});
      CAPTURE(simulated.name);
      CAPTURE(without.any_slower);
      CHECK(proves_below(without.any_slower, 0.01));
    }
  }

  TEST_CASE("all of 20 cases slower by just the threshold: not above one run in a hundred") {
    const tally count = count_verdicts(usual, {.cases = 20, .pairs = 15, .ratio = threshold_ratio, .slow = 20});
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
    for (const machine& simulated : {quiet, usual, shared_noise, remembering, drifting}) {
      check(simulated, {.cases = 1, .pairs = 12, .ratio = 1.1});
      check(simulated, {.cases = 20, .pairs = 15, .ratio = 1.1});
    }
    check(usual, {.cases = 40, .pairs = 16, .ratio = 1.1});
    check(usual, {.cases = 20, .pairs = 15, .ratio = 1.1, .floor = true});
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

}  // namespace
}  // namespace fanin::cli
