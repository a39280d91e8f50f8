// SPDX-License-Identifier: Apache-2.0
// Tests of incremental and plan.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

using namespace fanin;

TEST_SUITE("unit/stream") {
  TEST_CASE("blocks of any size give the bits and the report of one call") {
    const auto x = test::mixed_values<double>(300007, 1);
    test::generator random(2);
    for (const method how : all_methods) {
      const options chosen{.method = how};
      incremental sum_of_blocks(operation::sum, element_type::f64, chosen);
      for (auto left = std::span<const double>(x); !left.empty();) {
        const auto block = left.first(std::min<std::size_t>(left.size(), random() % 5000));
        sum_of_blocks.push(block);
        left = left.subspan(block.size());
      }
      const auto in_blocks = sum_of_blocks.finish();
      const auto whole = sum(x, chosen);
      CHECK(test::same(in_blocks.value, whole.value));
      CHECK(in_blocks.report.variant == whole.report.variant);
      CHECK(in_blocks.report.method == how);
      CHECK(in_blocks.report.reproducibility == whole.report.reproducibility);
      CHECK(in_blocks.report.bound.of_magnitudes == whole.report.bound.of_magnitudes);
    }
  }

  TEST_CASE_TEMPLATE("more than a stream collects, pushed behind a part of a leaf", T, float, double) {
    // The stream folds 2048 leaves of 8 KiB at once.
    constexpr std::size_t block = 2048 * 8192 / sizeof(T), first = 700;
    const auto x = test::mixed_values<T>(2 * block + first, 4);
    incremental sum_of_blocks(operation::sum, type_of<T>, {.method = method::fast});
    sum_of_blocks.push(std::span<const T>(x).first(first));
    sum_of_blocks.push(std::span<const T>(x).subspan(first));
    const T whole = sum(x, {.method = method::fast}).value;
    CHECK(test::same(sum_of_blocks.finish().value, whole));
    auto moved = x;  // If leaves of other elements had the same sum, the test would see nothing.
    std::ranges::rotate(moved, moved.begin() + first);
    CHECK(!test::same(sum(moved, {.method = method::fast}).value, whole));
  }

  TEST_CASE("nothing at all") {
    CHECK(test::same(incremental(operation::sum, element_type::f32).finish().value, 0.0f));
    CHECK(test::same(incremental(operation::product, element_type::i32).finish().value, std::int64_t{1}));
    for (const operation what : {operation::min, operation::max, operation::mean}) {
      incremental of_nothing(what, element_type::f64);
      of_nothing.push(array_view());
      CHECK_THROWS_AS(of_nothing.finish(), invalid_argument);
    }
  }

  TEST_CASE("an empty block changes nothing") {
    const std::vector<double> x{3, 1, 2};
    for (const operation what : {operation::min, operation::mean}) {
      incremental stream(what, element_type::f64);
      stream.push(std::span<const double>(x));
      stream.push(std::span<const double>());
      CHECK(test::same(stream.finish().value, reduce(what, std::span<const double>(x)).value));
    }
  }

  TEST_CASE("what does not fit is refused, and the stream goes on") {
    incremental total(operation::sum, element_type::i32);
    const std::vector<std::int32_t> x{1, 2, 3};
    const std::vector<float> others{1};
    total.push(std::span<const std::int32_t>(x));
    CHECK_THROWS_AS(total.push(std::span<const float>(others)), invalid_argument);
    CHECK_THROWS_AS(total.push(array_view(nullptr, 1, element_type::i32)), invalid_argument);
    total.push(std::span<const std::int32_t>(x));
    CHECK(test::same(total.finish().value, std::int64_t{12}));
    CHECK_THROWS_AS(incremental(operation::product, element_type::f64, {.method = method::exact}), unsupported);
    CHECK_THROWS_AS(incremental(operation::sum, element_type::f64, {.backend = "serial", .variant = "kahan"}),
                    unsupported);
  }

  TEST_CASE("overflow is told at the end, and only if it stays") {
    const std::vector<std::int64_t> most{std::numeric_limits<std::int64_t>::max()};
    const std::vector<std::int64_t> ones{1, -1};
    incremental total(operation::sum, element_type::i64);
    total.push(std::span<const std::int64_t>(most));
    total.push(std::span<const std::int64_t>(ones));
    CHECK(test::same(total.finish().value, most[0]));
    incremental too_much(operation::sum, element_type::i64);
    too_much.push(std::span<const std::int64_t>(most));
    too_much.push(std::span<const std::int64_t>(most));
    CHECK_THROWS_AS(too_much.finish(), overflow);
  }

  TEST_CASE("a plan serves every count, and only what was planned") {
    const plan mean_of_floats(operation::mean, element_type::f32, {.method = method::compensated}, 1000);
    for (const std::size_t count : {1, 10, 100000}) {
      const auto x = test::mixed_values<float>(count, count);
      CHECK(test::same(mean_of_floats(std::span<const float>(x)).value,
                       mean(x, {.method = method::compensated}).value));
    }
    CHECK(mean_of_floats.chosen().chosen->name() == "serial");
    CHECK_THROWS_AS(mean_of_floats(std::span<const float>()), invalid_argument);
    const std::vector<double> others{1};
    CHECK_THROWS_AS(mean_of_floats(std::span<const double>(others)), invalid_argument);
    const array_view elsewhere(others.data(), 1, element_type::f32, memory::device);
    CHECK_THROWS_AS(mean_of_floats(elsewhere), invalid_argument);
    CHECK_THROWS_AS(mean_of_floats(array_view(nullptr, 1, element_type::f32)), invalid_argument);
  }
}
