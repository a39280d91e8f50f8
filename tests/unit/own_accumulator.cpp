// SPDX-License-Identifier: Apache-2.0
// Accumulators of the caller's own: the same bits on every CPU backend, for any thread count, whole or in blocks.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/fold.hpp>

#include "tests/support/call.hpp"
#include "tests/support/cpu_backends.hpp"
#include "tests/support/float_environment.hpp"
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

/// How often the rarest remainder of a division by 1000 occurs; the state has 4000 bytes, more than any recipe's.
struct rarest_remainder {
  using element = std::uint32_t;
  struct state {
    std::uint32_t seen[1000];
  };
  using result = std::uint32_t;
  static constexpr bool order_free = true;
  static state identity() { return {}; }
  static void add(state& s, element x) { ++s.seen[x % std::size(s.seen)]; }
  static void merge(state& s, const state& other) {
    for (std::size_t i = 0; i < std::size(s.seen); ++i) s.seen[i] += other.seen[i];
  }
  template <class R>
  static R finish(const state& s, std::uint64_t) {
    return *std::ranges::min_element(s.seen);
  }
};

}  // namespace

TEST_SUITE("unit/own_accumulator") {
  TEST_CASE("an order that matters is the library's own, on every backend") {
    for (const std::size_t count : lengths) {
      const auto x = test::mixed_values<float>(count, 17);
      const float expected = sum(x, {.backend = "serial", .method = method::fast}).value;
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

  TEST_CASE("streams of several blocks") {
    const std::size_t count = 9'500'000;  // A block of the stream has 2^22 elements.
    auto x = test::mixed_values<float>(count, 7);
    x.back() = 0x1p22f;  // the largest, and not enough to hide the other bits of the sum
    const float expected = sum(x, {.backend = "serial", .method = method::fast}).value;
    for_each_way([&](const options& chosen) {
      incremental_fold<test::ordered_sum> total(chosen);
      incremental_fold<test::place_of_largest> place(chosen);
      for (const auto part : {std::span<const float>(x).first(1), std::span<const float>(x).subspan(1)}) {
        total.push(part);
        place.push(part);
      }
      CHECK(test::same(total.finish().value, expected));
      CHECK(place.finish().value == count - 1);
    });
  }

  TEST_CASE("states of kilobytes") {
    std::vector<std::uint32_t> x(1000 * 2000);
    std::iota(x.begin(), x.end(), 0u);
    const std::span<const std::uint32_t> all(x);
    for_each_way([&](const options& chosen) {
      CHECK(fold<rarest_remainder>(x, chosen).value == 2000);
      incremental_fold<rarest_remainder> blocks(chosen);
      blocks.push(all.first(777));
      blocks.push(all.subspan(777));
      CHECK(blocks.finish().value == 2000);
    });
  }

  TEST_CASE("one thread is the calling one") {
    static std::atomic<bool> others;
    static std::thread::id caller;
    struct watching : test::ordered_sum {
      static void add(state& s, element x) {
        if (std::this_thread::get_id() != caller) others = true;
        s += x;
      }
    };
    const std::vector<float> x(1 << 22, 1.0f);
    caller = std::this_thread::get_id();
    for (const backend* b : test::cpu_backends()) {
      CAPTURE(b->name());
      others = false;
      CHECK(fold<watching>(x, {.backend = b->name(), .threads = 1}).value > 0);
      CHECK(!others);
    }
  }

  TEST_CASE("an accumulator may leave worker threads in another floating-point environment") {
    struct flushing : test::ordered_sum {
      static void add(state& s, element x) {
        test::flush_subnormals(test::subnormals::flushed);
        s += x;
      }
    };
    const std::vector<float> x(1 << 21, 0x1p-149f);
    for_each_way([&](const options& chosen) {
      const test::changed_environment restored(FE_TONEAREST);
      CHECK(fold<flushing>(x, chosen).value >= 0);
      CHECK(test::same(sum(x, chosen).value, 0x1p-128f));  // by their bits: here subnormals equal 0
      const std::size_t shape[] = {4, x.size() / 4};
      const int along[] = {1};
      for (int turn = 0; turn < 8; ++turn) {  // until a thread that flushes gets a row
        CHECK(fold<flushing>(x, chosen).value >= 0);
        float of_rows[4];
        reduce(operation::sum, rows(std::span<const float>(x), shape, along), of_rows, chosen);
        for (const float one : of_rows) CHECK(test::same(one, 0x1p-130f));
      }
    });
  }

  TEST_CASE("two inputs") {
    const auto x = test::mixed_values<float>(1000003, 1), y = test::mixed_values<float>(1000003, 2);
    const double expected = fold<test::plain_dot>(x, y, {.backend = "serial"}).value;
    double magnitudes = 0;
    for (std::size_t i = 0; i < x.size(); ++i) magnitudes += std::fabs(static_cast<double>(x[i]) * y[i]);
    const double bound = accumulator::growth<double>(static_cast<double>(x.size())) * magnitudes;  // in any order
    CHECK(std::fabs(expected - dot<double>(x, y, {.method = method::exact}).value) <= bound * accumulator::round_up);
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
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.method = method::exact}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.result = element_type::f64}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.backend = "no-such"}), invalid_argument);
    CHECK_THROWS_AS(fold<test::ordered_sum>(x, {.backend = "cuda"}), error);
    incremental_fold<test::ordered_sum> blocks;
    CHECK_THROWS_AS(blocks.push(std::span<const float>(static_cast<const float*>(nullptr), 1)), invalid_argument);
  }
}
