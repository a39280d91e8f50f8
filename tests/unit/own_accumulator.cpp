// Accumulators of the caller's own: the same bits on every CPU backend, for any thread count, whole or in blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>

#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/own_accumulators.hpp"

namespace {

using namespace fanin;

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// f(options) for each CPU backend with one, two and five threads.
template <class F>
void for_each_way(F f) {
  for (const backend* b : test::cpu_backends()) {
    for (const unsigned threads : {1u, 2u, 5u}) {
      CAPTURE(b->name());
      CAPTURE(threads);
      f(options{.backend = b->name(), .threads = threads});
    }
  }
}

constexpr std::size_t lengths[] = {0, 1, 2, 63, 64, 65, 4096, 4097, 100003, 3000017};

std::vector<test::point> points(std::size_t count) {
  const auto values = test::mixed_values<float>(2 * count, 3);
  std::vector<test::point> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = {values[2 * i], values[2 * i + 1], 1};
  return all;
}

}  // namespace

TEST_SUITE("unit/own_accumulator") {
  TEST_CASE("an order that matters is the library's own, on every backend") {
    for (const std::size_t count : lengths) {
      const auto x = test::mixed_values<float>(count, 17);
      const float expected = sum(x, {.backend = "serial"}).value;
      for_each_way([&](const options& chosen) {
        const auto whole = fold<test::ordered_sum>(x, chosen);
        CHECK(whole.report.reproducibility == reproducibility::fixed_order);
        CHECK(whole.report.backend == chosen.backend);
        CHECK(std::isinf(whole.report.bound.of_result));
        if (count > 0) CHECK(test::same(whole.value, expected));
        incremental_fold<test::ordered_sum> blocks(chosen);
        for (std::size_t begin = 0; begin < count; begin += 70001) {
          blocks.push(std::span<const float>(x).subspan(begin, std::min<std::size_t>(70001, count - begin)));
        }
        CHECK(same_bytes(blocks.finish().value, whole.value));
      });
    }
  }

  TEST_CASE("elements and states of any size") {
    for (const std::size_t count : lengths) {
      const auto all = points(count);
      auto expected = test::bounding_box::identity();
      for (const test::point& p : all) test::bounding_box::add(expected, p);
      for_each_way(
          [&](const options& chosen) { CHECK(same_bytes(fold<test::bounding_box>(all, chosen).value, expected)); });
    }
  }

  TEST_CASE("positions count from the input's begin, in chunks and blocks too") {
    for (const std::size_t count : lengths) {
      if (count == 0) continue;
      auto x = test::mixed_values<float>(count, 23);
      for (const std::size_t place : {std::size_t{0}, count / 2, count - 1}) {
        const float before = std::exchange(x[place], 1e30f);
        for_each_way([&](const options& chosen) {
          CHECK(fold<test::place_of_largest>(x, chosen).value == place);
          incremental_fold<test::place_of_largest> blocks(chosen);
          for (std::size_t begin = 0; begin < count; begin += 999983) {
            blocks.push(std::span<const float>(x).subspan(begin, std::min<std::size_t>(999983, count - begin)));
          }
          CHECK(blocks.finish().value == place);
        });
        x[place] = before;
      }
    }
  }

  TEST_CASE("states of some hundred bytes, and two inputs with positions") {
    for (const std::size_t count : lengths) {
      const auto x = test::mixed_values<float>(count, 5), y = test::mixed_values<float>(count, 6);
      auto counted = test::histogram::identity();
      auto found = test::place_of_largest_product::identity();
      for (std::size_t i = 0; i < count; ++i) {
        test::histogram::add(counted, x[i]);
        test::place_of_largest_product::add(found, x[i], y[i], i);
      }
      for_each_way([&](const options& chosen) {
        CHECK(same_bytes(fold<test::histogram>(x, chosen).value, counted));
        CHECK(fold<test::place_of_largest_product>(x, y, chosen).value == found.place);
      });
    }
  }

  TEST_CASE("two inputs") {
    const auto x = test::mixed_values<float>(1000003, 1), y = test::mixed_values<float>(1000003, 2);
    const double expected = fold<test::plain_dot>(x, y, {.backend = "serial"}).value;
    double magnitudes = 0;
    for (std::size_t i = 0; i < x.size(); ++i) magnitudes += std::fabs(static_cast<double>(x[i]) * y[i]);
    const double bound = accumulator::growth<double>(static_cast<double>(x.size())) * magnitudes;  // of any order
    CHECK(std::fabs(expected - dot<double>(x, y, {.how = method::exact}).value) <= bound * accumulator::round_up);
    for_each_way([&](const options& chosen) { CHECK(fold<test::plain_dot>(x, y, chosen).value == expected); });
    const std::vector<float> shorter(x.begin(), x.end() - 1);
    CHECK_THROWS_AS(fold<test::plain_dot>(x, shorter), invalid_argument);
  }

  TEST_CASE("elements longer than the least work of a thread, none of them too") {
    struct page {
      std::int32_t values[1 << 20];
    };
    struct first_values : test::ordered_sum {
      using element = page;
      using result = float;
      static void add(state& s, const page& p) { s += static_cast<float>(p.values[0]); }
    };
    std::vector<page> pages(3);
    for (page& p : pages) p.values[0] = 5;
    for_each_way([&](const options& chosen) {
      CHECK(fold<first_values>(std::span<const page>(), chosen).value == 0);
      CHECK(fold<first_values>(pages, chosen).value == 15);
    });
  }

  TEST_CASE("an accumulator may call the library") {
    for_each_way([&](const options& chosen) {
      const std::vector<double> inner(1 << 21, 1.0);
      static const std::vector<double>* data = nullptr;
      static options how;
      data = &inner;
      how = chosen;
      struct nested : test::ordered_sum {
        using element = std::int32_t;
        using result = float;
        static void add(state& s, const element& x) {
          if (x == 1) s += static_cast<float>(sum(*data, how).value == static_cast<double>(data->size()) ? 1 : 0);
        }
      };
      std::vector<std::int32_t> x(1 << 20);
      x[3] = x[500000] = 1;
      CHECK(fold<nested>(x, chosen).value == 2);
    });
  }

  TEST_CASE("what an own accumulator decides itself is refused as an option") {
    const std::vector<float> x(10, 1.0f);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.variant = "exact"}), unsupported);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.how = method::exact}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.result = element_type::f64}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.backend = "no-such"}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.backend = "cuda"}), error);
  }
}
