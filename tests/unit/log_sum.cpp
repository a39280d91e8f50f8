// SPDX-License-Identifier: Apache-2.0
// Tests log_sum_exp's functions and its accumulator against MPFR: errors stay below what is proven.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <fanin/loop.hpp>
#include <fanin/recipe.hpp>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/log_sum_truth.hpp"

namespace fanin::test {
namespace {

using namespace fanin::accumulator;

using double_limits = std::numeric_limits<double>;
constexpr double unit = unit_roundoff<double>;

double uniform(generator& random, double least, double most) {
  return least + (most - least) * std::ldexp(static_cast<double>(random() >> 11), -53);
}

/// The value of x by the general loop, and its bound.
template <class T>
struct computed {
  T value;
  error_bound bound;
};
template <class T>
computed<T> by_general_loop(std::span<const T> x) {
  using A = log_sum<T>;
  using loop = fanin::detail::ordered_loop<A>;
  typename loop::row row;
  loop::fold({x.data()}, x.size(), row);
  return {A::template finish<T>(loop::total(row), x.size()), fanin::detail::general_bound<A, T>(x.size())};
}

/// The error as a multiple of the bound.
template <class T>
double share_of_bound(const std::vector<T>& x) {
  const auto found = by_general_loop<T>(x);
  const long_number exact = log_sum_exp_of<T>(x, [](std::size_t) { return 1; });
  const double limit = found.bound.of_result * exact.magnitude() * (1 - 0x1p-50) + found.bound.absolute;
  return (long_number(static_cast<double>(found.value)) - exact).magnitude() / limit;
}

/// Inputs in which the largest element grows often or never, in which the result cancels, and limits of T.
template <class T>
std::vector<std::vector<T>> families(std::size_t count) {
  generator random(count);
  std::vector<std::vector<T>> all;
  const auto add = [&](auto element) {
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(element(i));
    all.push_back(x);
  };
  const auto n = static_cast<double>(count);
  for (const double same :
       {0., -1., 1e-30, 1000., -1e30, static_cast<double>(std::numeric_limits<T>::max()), -std::log(n)}) {
    add([&](std::size_t) { return same; });
  }
  for (const double width : {1e-9, 1., 30., 700., 1e5}) {
    add([&](std::size_t) { return uniform(random, -width, width); });
    add([&](std::size_t) { return uniform(random, -width, 0) - std::log(n); });
    add([&](std::size_t i) { return width * static_cast<double>(i) / n; });
    add([&](std::size_t i) { return -width * static_cast<double>(i) / n; });
  }
  for (const double step : {0.3, 2., 11., 707.9, 708.1}) {
    add([&](std::size_t i) { return step * static_cast<double>(i / fanin::detail::row_width_of<log_sum<T>>); });
  }
  add([&](std::size_t i) { return i == count / 2 ? 40. : uniform(random, -1, 1); });
  add([&](std::size_t i) { return i == count / 2 ? 0. : -36. - uniform(random, 0, 1); });
  add([&](std::size_t) { return std::numeric_limits<T>::denorm_min() * static_cast<T>(random() % 100); });
  add([&](std::size_t) { return random_finite<T>(random); });
  return all;
}

}  // namespace

TEST_SUITE("unit/log_sum") {
  TEST_CASE("exponentials of negative numbers are within two units roundoff") {
    generator random(1);
    double worst = 0;
    const auto measure = [&](double t) {
      worst = std::max(worst, relative_error(exp_of_negative(t), exp(long_number(t))));
    };
    for (int i = 0; i < 40000; ++i) {
      measure(uniform(random, -708, 0));
      measure(uniform(random, -2, 0));
      measure(-std::ldexp(uniform(random, 0.5, 1), -static_cast<int>(random() % 60)));
    }
    // Around the ends of the ranges in which the exponent of the result is n.
    for (int half = 1; half < 2043; half += 2) {
      double t = -half * 0.5 * ln2_high;
      for (int i = 0; i < 10; ++i) t = std::nextafter(t, -double_limits::infinity());
      for (int i = 0; i < 20; ++i, t = std::nextafter(t, 0)) {
        if (t >= least_exponent) measure(t);
      }
    }
    measure(least_exponent);
    CHECK(worst <= 2 * unit);
    CHECK(bits_of(exp_of_negative(0)) == bits_of(1.0));
    CHECK(bits_of(exp_of_negative(-0.0)) == bits_of(1.0));
    CHECK(bits_of(exp_of_negative(std::nextafter(least_exponent, -double_limits::infinity()))) == bits_of(0.0));
    CHECK(bits_of(exp_of_negative(-double_limits::max())) == bits_of(0.0));
    CHECK(bits_of(exp_of_negative(-double_limits::infinity())) == bits_of(0.0));
    CHECK(std::isnan(exp_of_negative(double_limits::quiet_NaN())));
  }

  TEST_CASE("logarithms are within six units roundoff") {
    generator random(2);
    double worst = 0;
    const auto measure = [&](double s) {
      worst = std::max(worst, relative_error(log_of_at_least_one(s), log(long_number(s))));
    };
    for (int i = 0; i < 40000; ++i) {
      measure(std::ldexp(uniform(random, 1, 2), static_cast<int>(random() % 65)));
      measure(uniform(random, 1.0001, 3));
      measure(1 + std::ldexp(uniform(random, 0.5, 1), -static_cast<int>(random() % 52)));
    }
    double s = std::sqrt(2.0);
    for (int i = 0; i < 100; ++i) s = std::nextafter(s, 0);
    for (int i = 0; i < 200; ++i, s = std::nextafter(s, 2)) {
      for (const int exponent : {0, 1, 5, 63}) measure(std::ldexp(s, exponent));
    }
    measure(std::nextafter(1.0, 2));
    measure(0x1.fffffffffffffp999);
    CHECK(worst <= 6 * unit);
    CHECK(bits_of(log_of_at_least_one(1)) == bits_of(0.0));
  }

  TEST_CASE_TEMPLATE("one element is its own result", T, float, double) {
    generator random(3);
    for (int i = 0; i < 10000; ++i) {
      const T x = random_finite<T>(random);
      CHECK(bits_of(by_general_loop<T>({&x, 1}).value) == bits_of(x));
    }
  }

  TEST_CASE("merges of states that have no element, infinities or NaN") {
    using A = log_sum<double>;
    constexpr double inf = double_limits::infinity(), nan = double_limits::quiet_NaN();
    const auto value = [](double x, double y) {
      auto s = A::identity(), other = A::identity();
      A::merge(s, other);
      A::add(s, x);
      A::add(other, y);
      A::merge(s, other);
      A::merge(s, A::identity());
      return A::finish<double>(s, 2);
    };
    CHECK(value(-inf, -inf) == -inf);
    CHECK(value(-inf, 7) == 7);
    CHECK(value(7, -inf) == 7);
    CHECK(value(inf, -inf) == inf);
    CHECK(value(inf, inf) == inf);
    CHECK(value(double_limits::max(), double_limits::max()) == double_limits::max());
    CHECK(value(-double_limits::max(), double_limits::max()) == double_limits::max());
    for (const double other : {-inf, -1., inf, nan}) {
      CHECK(bits_of(value(-nan, other)) == bits_of(nan));
      CHECK(bits_of(value(other, nan)) == bits_of(nan));
    }
    CHECK(A::finish<double>(A::identity(), 0) == -inf);
  }

  TEST_CASE_TEMPLATE("the bound holds", T, float, double) {
    double worst = 0;
    for (const std::size_t count : {1, 2, 3, 64, 65, 1000, 5000, 20000}) {
      for (const auto& x : families<T>(count)) {
        const double share = share_of_bound(x);
        CAPTURE(count);
        CAPTURE(x[0]);
        CHECK(share <= 1);
        worst = std::max(worst, share);
      }
    }
  }
}

}  // namespace fanin::test
