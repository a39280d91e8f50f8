// SPDX-License-Identifier: Apache-2.0
// Tests the oracle of log_sum_exp against MPFR, and that it tells values that break a bound.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <mpfr.h>

#include "oracle/families.hpp"
#include "oracle/log_sum_exp.hpp"
#include "oracle/truth.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/log_sum_truth.hpp"

namespace fanin::test {
namespace {

/// |found - exact| less the error of one rounding of a long double, in units of log_sum_exp_error.
template <class T>
double error_share(const std::vector<T>& x) {
  const long double found = oracle::log_sum_exp(std::span<const T>(x));
  const auto high = static_cast<double>(found);
  const long_number value = long_number(high) + long_number(static_cast<double>(found - high));
  const long_number exact = log_sum_exp_of<T>(x, [](std::size_t) { return 1; });
  return ((value - exact).magnitude() - 0x1p-63 * exact.magnitude()) / oracle::log_sum_exp_error;
}

}  // namespace

TEST_SUITE("unit/log_sum_oracle") {
  TEST_CASE_TEMPLATE("it is as precise as it says", T, float, double, f16, e4m3) {
    for (const std::string_view family : oracle::accuracy_specs()) {
      CAPTURE(family);
      CHECK(error_share(as_elements<T>(oracle::generate<computed_as<T>>(family, 3000, 1))) <= 1);
    }
    for (const computed_as<T> width : {0.001f, 1.f, 40.f, 10000.f}) {
      generator random(1);
      std::vector<computed_as<T>> x(5000);
      for (auto& v : x) v = width * std::ldexp(static_cast<computed_as<T>>(random() >> 40), -24);
      CHECK(error_share(as_elements<T>(x)) <= 1);
    }
    CHECK(error_share(std::vector<T>(3, static_cast<T>(-std::log(3.0f)))) <= 1);
  }

  TEST_CASE("it accepts what is within the bound, and nothing else") {
    const std::vector<double> x(2, -std::log(2.0));
    const oracle::truth exact(operation::log_sum_exp, std::span<const double>(x), 1);
    const report how{"", outcome{"", method::fast, reproducibility::fixed_order, {0x1p-53, 0, 0x1p-40}}};
    CHECK(exact.judge(0.0, how) == oracle::promise::kept);
    CHECK(exact.judge(0.99 * 0x1p-40, how) == oracle::promise::kept);
    CHECK(exact.judge(1.01 * 0x1p-40, how) == oracle::promise::broken);
    CHECK(exact.judge(-1.01 * 0x1p-40, how) == oracle::promise::broken);
    CHECK_THROWS_AS(oracle::log_sum_exp(std::span<const std::int32_t>()), unsupported);
  }
}

}  // namespace fanin::test
