// SPDX-License-Identifier: Apache-2.0
// Tests fast and compensated variances and standard deviations on inputs that are hard for them.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <fanin/fanin.hpp>

#include "oracle/truth.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr method rounded_methods[] = {method::fast, method::compensated};
constexpr std::size_t dispersion_lengths[] = {1, 2, 3, 31, 32, 33, 64, 65, 1000, 1024, 1025, 2048, 4097, 40001};

double uniform(generator& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

template <class T, class F>
std::vector<T> made(std::size_t count, F element) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(static_cast<computed_as<T>>(element(i)));
  return x;
}

/// |value - exact| / exact, for a variance that is not 0.
template <class T>
double relative_error(std::span<const T> x, method how) {
  const double exact = variance<double>(x, {.method = method::exact}).value;
  return std::abs(static_cast<double>(variance(x, {.method = how}).value) / exact - 1);
}

template <class T>
void expect_bounds(const std::vector<T>& x) {
  const exact_reference<T> exact(x);
  for (const operation what : all_operations) {
    if (!is_dispersion_operation(what) || x.size() < least_count(what)) continue;
    for (const method how : rounded_methods) {
      const auto answer = reduce(what, std::span<const T>(x), {.backend = "serial", .method = how});
      CAPTURE(told(what, std::span<const T>(x), {.method = how}));
      CAPTURE(shown(answer.value));
      const auto value = fanin::get<computed_as<T>>(answer.value);
      CHECK(exact.keeps(what, value, answer.report.bound));
      CHECK(!std::signbit(value));
    }
  }
}

}  // namespace

TEST_SUITE("unit/dispersion") {
  TEST_CASE_TEMPLATE("bounds hold on every instruction set", T, float, double, f16, bf16) {
    on_every_target([] {
      generator random(3);
      using limits = std::numeric_limits<T>;
      for (const std::size_t count : dispersion_lengths) {
        for (const double mean : {0., 1., 1000., 1e8, 1e13}) {
          if (mean > static_cast<double>(limits::max()) / 4096) continue;
          expect_bounds(made<T>(count, [&](std::size_t) { return mean + uniform(random); }));
          // The first elements of a leaf's partial sums are far from the others, or 0.
          for (const double first : {0., -mean, mean * 1.5 + 1}) {
            expect_bounds(
                made<T>(count, [&](std::size_t i) { return i % 2048 < 64 ? first : mean + uniform(random) / 1024; }));
          }
        }
        const auto tiny = static_cast<double>(limits::denorm_min());
        expect_bounds(made<T>(count, [&](std::size_t) { return tiny * static_cast<double>(random() % 100); }));
        const double root = std::sqrt(static_cast<double>(limits::min()));
        expect_bounds(made<T>(count, [&](std::size_t) { return root * uniform(random); }));
        expect_bounds(made<T>(count, [&](std::size_t) { return static_cast<double>(random_finite<T>(random)); }));
      }
    });
  }

  TEST_CASE("bounds tell errors") {
    const std::vector<double> x{1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3};
    const exact_reference<double> exact(x);
    const auto answer = variance(x, {.method = method::fast});
    CHECK(answer.value == 1.25);
    CHECK(exact.keeps(operation::variance, 1.25 + 1e-13, answer.report.bound));
    CHECK(!exact.keeps(operation::variance, 1.25 + 2e-12, answer.report.bound));
    const auto closer = variance(x, {.method = method::compensated});
    CHECK(!exact.keeps(operation::variance, 1.25 + 1e-14, closer.report.bound));
    CHECK(!exact.keeps(operation::variance, std::numeric_limits<double>::quiet_NaN(), closer.report.bound));
    const oracle::truth truth(operation::variance, std::span<const double>(x), 1);
    CHECK(truth.judge(1.25, {"serial", {.method = method::fast, .bound = answer.report.bound}}) ==
          oracle::promise::kept);
    CHECK(truth.judge(1.26, {"serial", {.method = method::fast, .bound = answer.report.bound}}) ==
          oracle::promise::broken);
  }

  TEST_CASE("a mean far from zero") {
    generator random(5);
    const auto floats = made<float>(100'000, [&](std::size_t) { return 1e4 + uniform(random); });
    CHECK(relative_error<float>(floats, method::fast) < 0x1p-23);
    CHECK(relative_error<float>(floats, method::compensated) < 0x1p-23);
    const auto doubles = made<double>(100'000, [&](std::size_t) { return 1e7 + uniform(random); });
    CHECK(relative_error<double>(doubles, method::fast) < 1e-14);
    CHECK(relative_error<double>(doubles, method::compensated) < 1e-14);
  }

  TEST_CASE("absent elements far from the mean do not take digits") {
    generator random(6);
    for (const std::size_t lead : {0, 1, 33, 1500}) {
      const auto x = made<double>(10'000, [&](std::size_t) { return 1e7 + uniform(random); });
      std::vector<std::uint8_t> mask(x.size());
      std::vector<double> present;
      for (std::size_t i = 0; i < x.size(); ++i) {
        mask[i] = i >= lead && random() % 3 != 0 ? 1 : 0;
        if (mask[i] != 0) present.push_back(x[i]);
      }
      const double exact = variance(present).value;
      for (const method how : rounded_methods) {
        const auto answer = variance(where(x, mask), {.method = how});
        CHECK(std::abs(answer.value / exact - 1) < 1e-14);
        CHECK(answer.report.absent == x.size() - present.size());
      }
    }
  }

  TEST_CASE("what is exactly +0") {
    for (const method how : rounded_methods) {
      for (const double one : {0., -0., 1.1, -1e100, 1e-160, 5e-324}) {
        CHECK(bits_of(variance(std::vector<double>{one}, {.method = how}).value) == 0);
      }
      for (const float one : {1.1f, std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()}) {
        CHECK(bits_of(standard_deviation(std::vector<float>{one}, {.method = how}).value) == 0);
      }
    }
    // Compensated sums of equal floats are exact.
    for (const std::size_t count : {2, 3, 1000, 100'003}) {
      for (const float one : {1.23f, -9999.99f, 1e-42f, 3e38f}) {
        const std::vector<float> x(count, one);
        CHECK(bits_of(variance(x, {.method = method::compensated}).value) == 0);
      }
    }
  }

  TEST_CASE("sums that cannot be represented") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (const method how : rounded_methods) {
      const auto of = [&](std::vector<double> x) { return bits_of(variance(x, {.method = how}).value); };
      constexpr auto nan = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
      CHECK(of({1, inf, 2}) == nan);
      CHECK(of({-inf, inf}) == nan);
      CHECK(of({1e200, 1e200}) == nan);  // the squares overflow
      CHECK(of({1e150, -1e150}) == bits_of(1e150 * 1e150));
      // The square of the sum overflows, and the sum of the squares does not.
      const auto found = variance(std::vector<double>(1000, 1e152), {.method = how}).value;
      CHECK(found <= 1e304 * 0x1p-90);
      constexpr float most = std::numeric_limits<float>::max();
      CHECK(std::isinf(variance(std::vector<float>{most, -most}, {.method = how}).value));
    }
  }
}

}  // namespace fanin::test
