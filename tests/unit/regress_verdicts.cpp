// SPDX-License-Identifier: Apache-2.0
// Tests of the intervals of `fanin regress`, and of the verdict of a case with several quantities.
#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

#include "cli/regress/regress.hpp"

namespace fanin::cli {
namespace {

TEST_SUITE("unit/regress_verdicts") {
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

  TEST_CASE("the wall time decides a case; another quantity decides it only if that is slower or faster") {
    const auto called = [](verdict wall, verdict cpu, verdict count) {
      const auto judged = [](verdict kind) { return paired_amounts{.a = {}, .b = {}, .judged = {.called = kind}}; };
      return regress_case{.name = "x",
                          .measured = {{quantity::wall_time, judged(wall)},
                                       {quantity::cpu_time, judged(cpu)},
                                       {quantity::instructions, judged(count)}}}
          .called();
    };
    constexpr verdict open = verdict::undecided;
    CHECK(called(verdict::same, verdict::slower, verdict::slower) == verdict::same);
    CHECK(called(open, verdict::slower, verdict::faster) == verdict::slower);
    CHECK(called(open, verdict::same, verdict::faster) == verdict::faster);
    CHECK(called(open, verdict::same, verdict::same) == open);
  }
}

}  // namespace
}  // namespace fanin::cli
