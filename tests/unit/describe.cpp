// SPDX-License-Identifier: Apache-2.0
// Descriptions against the single verbs: every element type and backend, masks, NaN, block borders, streams.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/masked.hpp"

namespace {

using namespace fanin;

constexpr options skip{.nan = nan_policy::skip};

template <class F>
void for_each_type(F f) {
  for (const element_type type : all_element_types) {
    if (is_complex(type)) continue;  // complex numbers have no smallest one
    CAPTURE(to_string(type));
    with_element(type, f);
  }
}

/// The usable backends that have an exact standard deviation of every type.
std::vector<std::string> exact_backends() {
  std::vector<std::string> names;
  for (const backend* b : backends()) {
    if (b->probe().usable() && (b->home() == memory::host || b->name() == "cuda")) names.emplace_back(b->name());
  }
  return names;
}

template <class T>
any_description as_any(const description<T>& d) {
  return {d.count, d.nan, d.min, d.max, d.sum, d.mean, d.standard_deviation};
}

template <class T>
any_description by_verbs(const std::vector<T>& x, std::uint64_t nan = 0) {
  const options exact{.method = method::exact};
  return {x.size(),
          nan,
          fanin::min(x).value,
          fanin::max(x).value,
          sum(x, exact).value,
          mean(x, exact).value,
          standard_deviation(x).value};
}

void check_same(const any_description& got, const any_description& expected) {
  CHECK(got.count == expected.count);
  CHECK(got.nan == expected.nan);
  for (const auto number : {&any_description::min, &any_description::max, &any_description::sum,
                            &any_description::mean, &any_description::standard_deviation}) {
    const bool same = test::same(got.*number, expected.*number);
    CHECK_MESSAGE(same, test::shown(got.*number), " instead of ", test::shown(expected.*number));
  }
}

template <class T>
input_views views_of(const std::vector<T>& x) {
  return std::span<const T>(x);
}

}  // namespace

TEST_SUITE("unit/describe") {
  TEST_CASE("short arrays of every type on every backend") {
    for (const std::string& name : exact_backends()) {
      CAPTURE(name);
      for_each_type([&]<class T>() {
        for (const std::size_t n : {1, 2, 17, 5000}) {
          const auto x = test::mixed_values<T>(n, n);
          const auto found = describe(x, {.backend = name});
          check_same(as_any(found.value), by_verbs(x));
          CHECK(found.report.backend == name);
          CHECK(found.report.method == method::exact);
          CHECK(found.report.reproducibility == reproducibility::exact);
          CHECK(found.report.bound.of_result > 0);
          CHECK(found.report.absent == 0);
        }
      });
    }
  }

  TEST_CASE("lengths around the pieces of 4 MiB") {
    for_each_type([&]<class T>() {
      constexpr std::size_t piece = (std::size_t{4} << 20) / sizeof(T);
      const auto most = test::mixed_values<T>(2 * piece + 3, 1);
      for (const std::size_t n : {piece - 1, piece, piece + 1, 2 * piece + 3}) {
        const std::vector<T> x(most.begin(), most.begin() + static_cast<std::ptrdiff_t>(n));
        for (const unsigned threads : {1u, 3u}) {
          check_same(as_any(describe(x, {.threads = threads}).value), by_verbs(x));
        }
      }
    });
  }

  TEST_CASE("masks and NaN: the numbers that are left") {
    test::generator random(5);
    for (const std::string& name : exact_backends()) {
      CAPTURE(name);
      for_each_type([&]<class T>() {
        for (const std::size_t n : {65, 20000, 1'200'000}) {
          if (n > 100000 && sizeof(T) < 4) continue;
          const auto of = test::masked(test::mixed_values<T>(n, n), 40, 3, random);
          const auto numbers = of.compacted();
          const auto left_in = static_cast<std::size_t>(n - std::ranges::count(of.mask, 0));
          const std::uint64_t nan = left_in - numbers.size();
          const auto bits = test::bits_of_mask(of.mask, 3);
          options chosen{.backend = name, .nan = nan_policy::skip};
          for (const auto& found :
               {describe(where(of.x, of.mask), chosen), describe(where(of.x, bit_mask{bits.data(), n, 3}), chosen)}) {
            check_same(as_any(found.value), by_verbs(numbers, nan));
            CHECK(found.report.absent == n - numbers.size());
          }
          chosen.nan = nan_policy::propagate;
          const auto all = describe(where(of.x, of.mask), chosen);
          CHECK(all.value.count == numbers.size());
          CHECK(all.value.nan == nan);
          CHECK(all.report.absent == n - left_in);
          if (nan == 0) check_same(as_any(all.value), by_verbs(numbers));
        }
      });
    }
  }

  TEST_CASE("a NaN that is not skipped makes the numbers those of the verbs") {
    for_each_type([]<class T>() {
      if constexpr (floating<T>) {
        for (const std::size_t n : {3, 3'000'000}) {
          auto x = test::mixed_values<T>(n, 1);
          x[n / 2] = std::numeric_limits<T>::quiet_NaN();
          any_description expected = by_verbs(x, 1);
          expected.count = n - 1;
          const auto found = describe(x);
          check_same(as_any(found.value), expected);
          CHECK(found.report.absent == 0);
          CHECK(found.report.bound.of_result > 0);
        }
      }
    });
    const std::vector<float> none(5, std::numeric_limits<float>::quiet_NaN());
    CHECK(describe(none).value.nan == 5);
    CHECK(describe(none).value.count == 0);
    CHECK(std::isnan(describe(none).value.mean));
  }

  TEST_CASE("blocks of any size, with masks and without") {
    test::generator random(7);
    for (const std::string& name : exact_backends()) {
      CAPTURE(name);
      for_each_type([&]<class T>() {
        const std::size_t n = 5'000'000 / sizeof(T);
        auto of = test::masked(test::mixed_values<T>(n, 2), 10, 2, random);
        for (std::size_t i = n / 2; i < n; ++i) of.mask[i] = 1;
        for (const nan_policy nan : all_nan_policies) {
          const options chosen{.backend = name, .nan = nan};
          const input_views all = views_of(of.x);
          describer blocks(type_of<T>, chosen);
          for (std::size_t at = 0; at < n;) {
            const std::size_t block = std::min<std::size_t>(n - at, random() % 3 == 0 ? random() % n : random() % 99);
            const input_views part =
                at < n / 2 ? all.where({of.mask.data()}).part(at, std::min(block, n / 2 - at)) : all.part(at, block);
            blocks.push(part);
            at += part.count();
          }
          description<T> found{};
          const report how = blocks.finish(found);
          const auto whole = describe(where(of.x, of.mask), chosen);
          check_same(as_any(found), as_any(whole.value));
          CHECK(how.absent == whole.report.absent);
          CHECK(how.backend == name);
        }
      });
    }
  }

  TEST_CASE("nothing takes part") {
    const std::vector<double> x{1, std::numeric_limits<double>::quiet_NaN()};
    CHECK_THROWS_WITH_AS(describe(std::vector<double>()), "no elements to describe", invalid_argument);
    CHECK_THROWS_AS(describe(std::vector<std::int32_t>(), skip), invalid_argument);
    CHECK_THROWS_AS(describe(std::span(x).last(1), skip), invalid_argument);
    CHECK_THROWS_AS(describe(where(x, std::array{false, false})), invalid_argument);
    CHECK_THROWS_AS(describe(where(x, std::array{false, true}), skip), invalid_argument);
    CHECK_THROWS_AS(describer(element_type::f32).finish(), invalid_argument);
  }

  TEST_CASE_TEMPLATE("an integer sum that does not fit leaves the other numbers", T, std::int64_t, std::uint64_t) {
    constexpr T most = std::numeric_limits<T>::max();
    constexpr std::size_t pieces = std::size_t{1} << 20;  // more than 4 MiB
    for (const std::string& name : exact_backends()) {
      CAPTURE(name);
      for (const std::size_t n : {std::size_t{2}, pieces}) {
        std::vector<T> x(n, most);
        x[1] = 5;
        x.push_back(most);
        const auto check = [&](const auto& found) {
          CHECK(found.sum_overflows);
          CHECK((found.count == n + 1 && found.nan == 0 && found.min == T{5} && found.max == most));
          CHECK(found.sum == T{});
          CHECK(found.mean == mean(x, {.method = method::exact}).value);
          CHECK(found.standard_deviation == standard_deviation(x).value);
        };
        const auto whole = describe(x, {.backend = name});
        check(whole.value);
        CHECK(whole.report.absent == 0);
        describer blocks(type_of<T>, {.backend = name});
        blocks.push(std::span<const T>(x));
        description<T> streamed{};
        blocks.finish(streamed);
        check(streamed);
      }
      CHECK(!describe(std::vector<T>{most, 0}, {.backend = name}).value.sum_overflows);
    }
  }

  TEST_CASE("limits: infinities, zeros, one element") {
    const std::vector<float> large(4, std::numeric_limits<float>::max());
    CHECK(describe(large).value.sum == std::numeric_limits<float>::infinity());
    CHECK(describe(large).value.mean == std::numeric_limits<float>::max());
    CHECK(describe(large).value.standard_deviation == 0);
    const auto infinite = describe({1.0, -std::numeric_limits<double>::infinity()}).value;
    CHECK(infinite.min == -std::numeric_limits<double>::infinity());
    CHECK(infinite.mean == infinite.min);
    CHECK(std::isnan(infinite.standard_deviation));
    CHECK(infinite.nan == 0);
    const auto zeros = describe({0.0, -0.0}).value;
    CHECK(std::signbit(zeros.min));
    CHECK(!std::signbit(zeros.max));
    const auto one = describe({std::uint8_t{7}}).value;
    CHECK(one.sum == 7);
    CHECK(one.standard_deviation == 0);
  }

  TEST_CASE("what describe takes") {
    const double x[] = {1, 2, 6};
    const std::array<bool, 3> truths{true, false, true};
    CHECK(describe(x, 3).value.mean == 3);
    CHECK(describe({1, 2, 6}).value.sum == 9);
    CHECK(describe(truths).value.sum == 2);
    CHECK(describe(x, {.method = method::exact}).value.max == 6);
    static_assert(std::is_same_v<decltype(describe(truths).value), description<std::uint8_t, std::uint64_t, double>>);
    static_assert(std::is_same_v<decltype(describe({f16(1.0f)}).value), description<f16, float, float>>);
  }

  TEST_CASE("what does not fit is refused") {
    const std::vector<float> x{1, 2};
    CHECK_THROWS_AS(describe(x, {.method = method::fast}), invalid_argument);
    CHECK_THROWS_AS(describe(x, {.variant = "exact"}), invalid_argument);
    CHECK_THROWS_AS(describe(x, {.result = element_type::f64}), invalid_argument);
    CHECK_THROWS_AS(describe(x, {.backend = "serail"}), invalid_argument);
    CHECK_THROWS_AS(describe(static_cast<const float*>(nullptr), 1), invalid_argument);
    describer blocks(element_type::f32);
    blocks.push(views_of(x));
    CHECK_THROWS_AS(blocks.push(views_of(std::vector<double>{1})), invalid_argument);
    CHECK_THROWS_AS(blocks.push(array_view(nullptr, 1, element_type::f32)), invalid_argument);
    CHECK_THROWS_AS(blocks.push(array_view(x.data(), 2, element_type::f32, memory::device)), invalid_argument);
    CHECK_THROWS_AS(blocks.push(input_views(std::span<const float>(x), std::span<const float>(x))), invalid_argument);
    description<double> of_another_type{};
    CHECK_THROWS_AS(blocks.finish(of_another_type), invalid_argument);
    blocks.push(views_of(x));
    CHECK(fanin::get<float>(blocks.finish().value.sum) == 6);
  }

  TEST_CASE("a list goes on with the next backend, and a name alone does not") {
    const std::vector<double> x{1, 2};
    for (const backend* b : backends()) {
      if (b->probe().usable()) continue;
      const std::string name(b->name());
      CHECK_THROWS_AS(describe(x, {.backend = name}), backend_unavailable);
      const std::string list = name + ",serial";
      const auto found = describe(x, {.backend = list});
      CHECK(found.report.backend == "serial");
      REQUIRE(found.report.fallback.size() == 1);
      CHECK(found.report.fallback[0].backend == name);
      describer blocks(element_type::f64, {.backend = list});
      blocks.push(views_of(x));
      CHECK(blocks.finish().report.fallback.size() == 1);
    }
  }
}
