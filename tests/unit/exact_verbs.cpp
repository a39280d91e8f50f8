// SPDX-License-Identifier: Apache-2.0
// Tests that verbs are exact without asking, and the judgement of exact values.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include <fanin/fanin.hpp>

#include "oracle/exact_sum.hpp"
#include "tests/support/call.hpp"

namespace fanin::test {

TEST_SUITE("unit/exact_verbs") {
  TEST_CASE("every operation is exact without asking, if it has that method") {
    const std::vector<double> far{1e16, 1.0, -1e16};
    CHECK(sum(far).value == 1);
    CHECK(sum<double>(std::vector<float>{0x1p60f, 1, -0x1p60f}).value == 1);
    CHECK(dot(far, std::vector<double>(3, 1)).report.method == method::exact);
    CHECK(product(far).report.method == method::fast);
    CHECK(plan(operation::sum, element_type::f64)(std::span<const double>(far)).report.method == method::exact);
    incremental blocks(operation::mean, element_type::f64);
    blocks.push(std::span<const double>(far));
    CHECK(same(blocks.finish().value, 1.0 / 3));
    std::vector<double> row(1);
    CHECK(sum(rows(far, {1, 3}, 1), row).method == method::exact);
    CHECK(row[0] == 1);
    CHECK(sum_of_magnitudes(std::vector<std::complex<float>>(2)).report.method == method::fast);
    CHECK(sum(far, {.variant = "naive"}).report.method == method::fast);
    CHECK(sum(far, {.method = fanin::fast}).report.method == method::fast);
    CHECK(sum(far, {.method = fanin::compensated}).value == sum(far, {.method = fanin::exact}).value);
  }

  TEST_CASE("norm2 and variance are exact without asking") {
    const std::vector<float> x{3, -4};
    const auto norm = norm2(x);
    CHECK(norm.value == 5.0f);
    CHECK(norm.report.method == method::exact);
    CHECK(norm.report.reproducibility == reproducibility::exact);
    CHECK(variance(x).value == 12.25f);
    CHECK(norm2<double>(std::vector<float>{1, 1}).value == std::sqrt(2.0));
    CHECK(variance<double>(x, {.method = method::exact}).value == 12.25);
    CHECK(same(reduce(operation::variance, std::span<const float>(x)).value, 12.25f));
    CHECK(norm2(x, {.method = method::fast}).value == 5.0f);
    CHECK(standard_deviation(x).value == 3.5f);
    CHECK(sample_variance(x).value == 24.5f);
    CHECK(sample_standard_deviation<double>(std::vector<float>{0, 2}).value == std::sqrt(2.0));
    CHECK_THROWS_AS(sample_variance(std::vector<float>{1}), invalid_argument);
    CHECK(variance(x, {.variant = "compensated"}).report.method == method::compensated);
    CHECK_THROWS_AS(variance(std::vector<double>()), invalid_argument);
    CHECK(bits_of(norm2(std::vector<double>()).value) == bits_of(0.0));
  }

  TEST_CASE("norms and dot products of integers are doubles, and no integer is rounded") {
    const std::vector<std::int64_t> near{(std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 53)};
    const std::vector<std::uint64_t> most(2, UINT64_MAX);
    CHECK(norm2(std::vector<std::int8_t>{3, -4}).value == 5.0);
    CHECK(norm2(most).value == std::sqrt(2.0) * 0x1p64);
    CHECK(dot(near, std::vector<std::int64_t>{1, 1}).value == 1.0);
    CHECK(dot(most, most).value == 0x1p129);
    CHECK(vdot(near, near, {.method = method::fast}).value == dot(near, near).value);
    CHECK(dot(std::vector<std::uint8_t>{2, 3}, std::vector<std::uint8_t>{5, 7}).error_bound() == 0x1p-49);
    CHECK_THROWS_AS(log_sum_exp(near), unsupported);
    CHECK(norm2(std::vector<std::int32_t>()).value == 0);
  }

  TEST_CASE_TEMPLATE("the value of an exact method is judged by its bits", T, float, double) {
    using fanin::oracle::promise;
    const fanin::report how({}, {.variant = {}, .method = fanin::method::exact, .bound = {}});
    const auto judged = [&](const std::vector<T>& x, T value) {
      return fanin::oracle::exact_sum(std::span(x), 1).judge(fanin::scalar(value), how);
    };
    CHECK(judged({1, -1}, T{0}) == promise::kept);
    CHECK(judged({1, -1}, -T{0}) == promise::broken);
    constexpr T quiet = std::numeric_limits<T>::quiet_NaN();
    CHECK(judged({quiet, 1}, quiet) == promise::kept);
    CHECK(judged({quiet, 1}, std::copysign(quiet, T{-1})) == promise::broken);
    CHECK(judged({1, 2}, T{3}) == promise::kept);
    CHECK(judged({1, 2}, std::nextafter(T{3}, T{4})) == promise::broken);
  }
}

}  // namespace fanin::test
