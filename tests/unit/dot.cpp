// SPDX-License-Identifier: Apache-2.0
// Tests dot products: exact ones against arithmetic without rounding, others against their bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <vector>

#include <fanin/accumulator/dot.hpp>
#include <fanin/fanin.hpp>

#include "oracle/truth.hpp"
#include "tests/support/exact_number.hpp"
#include "tests/support/inputs.hpp"

namespace {

using namespace fanin;
using namespace fanin::test;

template <class T>
using limits = std::numeric_limits<T>;

template <class T>
struct pairs {
  std::vector<T> x, y;
  void push(T a, T b) {
    x.push_back(a);
    y.push_back(b);
  }
};

constexpr options exactly{.method = method::exact};

template <class T>
exact_number dot_of(const pairs<T>& p) {
  exact_number total;
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    total += exact_number(static_cast<double>(p.x[i])) * static_cast<double>(p.y[i]);
  }
  return total;
}

template <class R>
bool is_rounded(R value, const exact_number& exact) {
  return is_nearest(value, [&](const exact_number& m) { return compare(exact, m); });
}

template <class T>
void check_rounded(const pairs<T>& p) {
  const exact_number exact = dot_of(p);
  const T narrow = dot(p.x, p.y, exactly).value;
  const double wide = dot<double>(p.x, p.y, exactly).value;
  if (is_rounded(narrow, exact) && is_rounded(wide, exact)) return;
  std::ostringstream elements;
  for (std::size_t i = 0; i < p.x.size(); ++i) elements << std::hexfloat << p.x[i] << " * " << p.y[i] << ", ";
  CAPTURE(elements.str());
  CAPTURE(narrow);
  CAPTURE(wide);
  CHECK(is_rounded(narrow, exact));
  CHECK(is_rounded(wide, exact));
}

template <class T>
T scaled(generator& random, int exponent) {
  const T v = std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), exponent - 63);
  return std::isfinite(v) ? v : limits<T>::max();
}

template <class T>
pairs<T> random_pairs(generator& random, unsigned kind) {
  constexpr int low = limits<T>::min_exponent - limits<T>::digits;
  constexpr int high = limits<T>::max_exponent;
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const std::size_t count = 1 + random() % 8;
  const int exponent = low + below(high - low);
  pairs<T> p;
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case 0:  // Random exponents.
        p.push(scaled<T>(random, low + below(high - low)), scaled<T>(random, low + below(high - low)));
        break;
      case 1:  // Ties, and small terms that break them.
        p.push(sparse<T>(random, exponent), sparse<T>(random, -below(2) * limits<T>::digits - below(3)));
        break;
      case 2:  // Products near the smallest number.
        p.push(sparse<T>(random, low / 2 - below(10)), sparse<T>(random, low / 2 + below(20)));
        break;
      case 3:  // Factors near the smallest number.
        p.push(sparse<T>(random, low + below(30)), sparse<T>(random, low + below(high - low)));
        break;
      default:  // Products near overflow.
        p.push(sparse<T>(random, high / 2 + below(8)), sparse<T>(random, high / 2 - 4 - below(8)));
    }
  }
  return p;
}

/// An ill-conditioned dot product, by algorithm 6.1 of [Ogita, Rump, Oishi 2005]: the first half has random
/// exponents, and each further product cancels most of the sum so far.
pairs<double> ill_conditioned(generator& random, int log_condition) {
  constexpr int half = 50;
  pairs<double> p;
  exact_dot_accumulator<double> so_far;
  const auto push = [&](double x, double y) {
    p.push(x, y);
    so_far.add(x, y);
  };
  const auto exponent = [&] { return static_cast<int>(random() % static_cast<unsigned>(log_condition / 2 + 1)); };
  for (int i = 0; i < half; ++i) push(scaled<double>(random, exponent()), scaled<double>(random, exponent()));
  for (int i = half; i-- > 0;) {
    const double x = scaled<double>(random, log_condition / 2 * i / half);
    push(x, (scaled<double>(random, log_condition / 2 * i / half) - so_far.round()) / x);
  }
  return p;
}

/// The dot product of x and y. Checks that merging one state per product has the same result.
template <class T>
T dot_of(std::vector<T> x, std::vector<T> y) {
  exact_dot_accumulator<T> merged;
  for (std::size_t i = 0; i < x.size(); ++i) {
    exact_dot_accumulator<T> one;
    one.add(x[i], y[i]);
    merged.merge(one);
  }
  const T value = dot(x, y, exactly).value;
  CHECK(bits_of(merged.round()) == bits_of(value));
  return value;
}

/// The dot product of pairs whose products and sums T represents: every method has the same result.
template <class T>
T dot_by_every_method(std::vector<T> x, std::vector<T> y) {
  const T value = dot_of(x, y);
  for (const method how : all_methods) {
    CAPTURE(to_string(how));
    CHECK(bits_of(dot(x, y, {.method = how}).value) == bits_of(value));
  }
  return value;
}

/// Calls f(options) for every usable CPU backend with 1, 3 and 16 threads.
template <class F>
void for_each_way(method how, F f) {
  for (const std::string_view name : {"serial", "openmp", "tbb"}) {
    if (!find_backend(name).probe().usable()) continue;
    for (const unsigned threads : {1u, 3u, 16u}) {
      CAPTURE(name);
      CAPTURE(threads);
      f(options{.backend = name, .method = how, .threads = threads});
    }
  }
}

}  // namespace

TEST_SUITE("unit/dot") {
  TEST_CASE_TEMPLATE("dot products are correctly rounded", T, float, double) {
    generator random(40 + sizeof(T));
    for (unsigned i = 0; i < 40000; ++i) check_rounded(random_pairs<T>(random, i % 5));
  }

  TEST_CASE("cancellation to a condition of 10^60 and beyond") {
    generator random(8);
    double worst = 0;
    for (int log_condition = 50; log_condition <= 250; log_condition += 5) {
      const pairs<double> p = ill_conditioned(random, log_condition);
      check_rounded(p);
      pairs<double> sizes = p;
      for (double& v : sizes.x) v = std::abs(v);
      for (double& v : sizes.y) v = std::abs(v);
      worst = std::max(worst, dot(sizes.x, sizes.y, exactly).value / std::abs(dot(p.x, p.y, exactly).value));
    }
    CHECK(worst > 1e60);
  }

  TEST_CASE_TEMPLATE("special values", T, float, double) {
    constexpr T inf = limits<T>::infinity();
    constexpr T nan = limits<T>::quiet_NaN();
    constexpr T most = limits<T>::max();
    constexpr T tiny = limits<T>::denorm_min();
    const auto is = [](T value, T expected) { return bits_of(value) == bits_of(expected); };
    CHECK(is(dot_by_every_method<T>({}, {}), 0));
    CHECK(is(dot_by_every_method<T>({-T{0}}, {3}), -T{0}));
    CHECK(is(dot_by_every_method<T>({-T{0}, 2}, {0, -T{0}}), -T{0}));
    CHECK(is(dot_by_every_method<T>({-T{0}, 2}, {0, 0}), 0));
    CHECK(is(dot_by_every_method<T>({-T{0}, -T{0}}, {1, -T{0}}), 0));
    CHECK(is(dot_by_every_method<T>({-T{0}, 1}, {1, 2}), 2));
    CHECK(is(dot_by_every_method<T>({2, -3, -T{0}}, {3, 2, 1}), 0));
    CHECK(is(dot_by_every_method<T>({inf, 1}, {-2, 3}), -inf));
    CHECK(is(dot_by_every_method<T>({-inf, 1}, {-inf, -1}), inf));
    CHECK(is(dot_by_every_method<T>({inf, inf}, {1, -1}), nan));
    CHECK(is(dot_by_every_method<T>({inf, 1}, {0, 1}), nan));
    CHECK(is(dot_by_every_method<T>({1, -T{0}}, {1, -inf}), nan));
    CHECK(is(dot_by_every_method<T>({-nan, 1}, {1, 1}), nan));
    CHECK(is(dot_by_every_method<T>({1, 0}, {1, limits<T>::signaling_NaN()}), nan));
    CHECK(is(dot_of<T>({most, most, 1}, {most, -most, tiny}), tiny));
    CHECK(is(dot_of<T>({tiny, tiny}, {tiny, -tiny}), 0));
    CHECK(is(dot_of<T>({tiny}, {-tiny}), -T{0}));  // The product underflows to zero and keeps its sign.
    CHECK(is(dot_of<T>({tiny, 1}, {T(0.5), 0}), 0));
    CHECK(is(dot_of<T>({tiny, tiny}, {T(0.5), tiny}), tiny));
    CHECK(is(dot_of<T>({most, 1}, {1, most}), inf));
  }

  TEST_CASE_TEMPLATE("the same bits from every backend, thread count and order", T, float, double) {
    const auto x = mixed_values<T>(1200007, 3), y = mixed_values<T>(1200007, 4);
    for (const std::size_t count : {std::size_t{3}, std::size_t{4099}, x.size()}) {
      const auto first = std::span<const T>(x).first(count), second = std::span<const T>(y).last(count);
      exact_dot_accumulator<T> expected;
      for (std::size_t i = count; i-- > 0;) expected.add(first[i], second[i]);
      for_each_way(method::exact, [&](const options& chosen) {
        const auto answer = dot(first, second, chosen);
        CHECK(bits_of(answer.value) == bits_of(expected.round()));
        CHECK(answer.report.backend == chosen.backend);
        CHECK(answer.report.method == method::exact);
        CHECK(answer.report.reproducibility == reproducibility::exact);
        CHECK(answer.report.bound.of_result == limits<T>::epsilon() / 2);
      });
    }
  }

  TEST_CASE_TEMPLATE("fast and compensated products keep their bounds, with the same bits everywhere", T, float,
                     double) {
    for (const std::size_t count : {1, 2, 63, 64, 65, 4099, 1200007}) {
      const auto both = mixed_values<T>(2 * count, static_cast<unsigned>(count));
      const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
      const oracle::truth exact(operation::dot, std::span<const T>(both), 1);
      for (const method how : {method::fast, method::compensated}) {
        const auto expected = dot(x, y, {.backend = "serial", .method = how});
        CHECK(exact.judge(scalar(expected.value), expected.report) == oracle::promise::kept);
        CHECK(expected.report.reproducibility == reproducibility::fixed_order);
        for_each_way(
            how, [&](const options& chosen) { CHECK(bits_of(dot(x, y, chosen).value) == bits_of(expected.value)); });
      }
    }
  }

  TEST_CASE("a compensated product keeps its bound where almost everything cancels") {
    generator random(9);
    for (int log_condition = 20; log_condition <= 100; log_condition += 2) {
      const pairs<double> p = ill_conditioned(random, log_condition);
      std::vector<double> both = p.x;
      both.insert(both.end(), p.y.begin(), p.y.end());
      const oracle::truth exact(operation::dot, std::span<const double>(both), 1);
      const auto found = dot(p.x, p.y, {.method = method::compensated});
      CHECK(exact.judge(scalar(found.value), found.report) == oracle::promise::kept);
    }
  }

  TEST_CASE("what does not fit together is refused") {
    const std::vector<double> x{1, 2}, y{1};
    const std::vector<float> z{1, 2};
    CHECK_THROWS_AS(dot(x, y), invalid_argument);
    const auto dot_of = [](const array_view& a, const array_view& b) { return reduce(operation::dot, {a, b}); };
    const array_view view{std::span<const double>(x)}, null(nullptr, 2, element_type::f64);
    CHECK_THROWS_AS(dot_of(view, std::span<const float>(z)), invalid_argument);
    CHECK_THROWS_AS(dot_of(null, view), invalid_argument);
    CHECK_THROWS_AS(dot_of(view, null), invalid_argument);
    const std::vector<std::int32_t> integers{1};
    const array_view whole{std::span<const std::int32_t>(integers)};
    CHECK(fanin::get<double>(dot_of(whole, whole).value) == 1);
    CHECK_THROWS_AS(reduce(operation::dot, view), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, {view, view}), invalid_argument);
  }

  TEST_CASE("plans and streams take pairs") {
    const auto x = test::mixed_values<double>(5000, 7), y = test::mixed_values<double>(5000, 8);
    const array_view first{std::span<const double>(x)}, second{std::span<const double>(y)};
    for (const method how : all_methods) {
      const options chosen{.method = how};
      const scalar expected = dot(x, y, chosen).value;
      const plan planned(operation::dot, element_type::f64, chosen);
      CHECK(test::same(planned({first, second}).value, expected));
      CHECK_THROWS_AS(planned(first), invalid_argument);
      double value = 0;
      CHECK(planned({first, second}, value).method == how);
      CHECK(test::same(value, expected));

      incremental blocks(operation::dot, element_type::f64, chosen);
      for (std::size_t begin = 0; begin < x.size(); begin += 777) {
        blocks.push(input_views(first, second).part(begin, std::min<std::size_t>(777, x.size() - begin)));
      }
      CHECK_THROWS_AS(blocks.push(first), invalid_argument);
      CHECK(test::same(blocks.finish().value, expected));
    }
  }
}
