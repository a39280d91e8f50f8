// SPDX-License-Identifier: Apache-2.0
// Several operations of one batch: each result has the bits of a call of its own.
#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/inputs.hpp"
#include "tests/support/message_of.hpp"

namespace fanin::test {
namespace {

/// Memory for the results of an operation, and what the operation reports or throws.
struct results_of_one {
  operation what;
  element_type type;
  std::vector<std::byte> bytes;
  report how = {};

  results_of_one(operation w, element_type elements, std::size_t count)
      : what(w),
        type(default_result(w, elements)),
        bytes(count * with_result_type(w, type, []<class R>() { return sizeof(R); })) {}
  results_view view(std::size_t count) { return {bytes.data(), count, type, row_of(what).form}; }
};

/// The operations that read as many inputs and have the method: all, or those that take a short time.
std::vector<operation> operations_of(element_type type, method how, int inputs, bool all) {
  std::vector<operation> found;
  for (const operation what : all_operations) {
    const bool exists =
        is_offered(what, is_integer(type) && !row_of(what).of_integers ? element_type::f64 : type, how);
    if (exists && row_of(what).inputs == inputs && (all || row_of(what).adds != summand::exponentials))
      found.push_back(what);
  }
  return found;
}

/// Checks that one call of all operations gives the bits and the reports of a call each.
void check(const batch& many, options chosen) {
  const element_type type = many.inputs.type();
  for (const method how : all_methods) {
    const std::vector<operation> whats = operations_of(type, how, many.inputs.size(), many.inputs.count() < 30'000);
    if (whats.empty()) continue;
    chosen.method = how;
    CAPTURE(std::string(to_string(type)));
    CAPTURE(std::string(to_string(how)));
    std::vector<results_of_one> alone, together;
    std::vector<results_view> out;
    for (const operation what : whats) {
      alone.emplace_back(what, type, many.result_count);
      alone.back().how = reduce(what, many, alone.back().view(many.result_count), chosen);
      together.emplace_back(what, type, many.result_count);
    }
    for (results_of_one& one : together) out.push_back(one.view(many.result_count));
    const std::vector<report> reports = reduce_each(whats, many, out, chosen);
    REQUIRE(reports.size() == whats.size());
    for (std::size_t i = 0; i < whats.size(); ++i) {
      CAPTURE(std::string(to_string(whats[i])));
      CHECK(together[i].bytes == alone[i].bytes);
      CHECK(reports[i].backend == alone[i].how.backend);
      CHECK(reports[i].variant == alone[i].how.variant);
      CHECK(reports[i].absent == alone[i].how.absent);
      CHECK(reports[i].bound.of_result == alone[i].how.bound.of_result);
    }
  }
}

/// Numbers whose products and sums fit into every type.
template <class T>
std::vector<T> small_values(std::size_t count) {
  generator random(7);
  std::vector<T> x(count);
  for (T& v : x) v = T(static_cast<float>(random() % 64 == 0 ? random() % 3 : 1));
  return x;
}

template <class F>
void with_threads(F f) {
  f(options{.backend = "serial"});
  f(options{.backend = "auto", .threads = 2});
}

}  // namespace

TEST_SUITE("unit/reduce_each") {
  TEST_CASE_TEMPLATE("every operation, method and layout of a type", T, float, double, std::int8_t, std::uint8_t,
                     std::int32_t, std::uint64_t, fanin::bf16, std::complex<float>) {
    const std::vector<T> x = small_values<T>(24'000);
    const array_view all{std::span<const T>(x)};
    const std::vector<std::uint32_t> offsets{0, 3, 4'000, 4'001, 12'000, 24'000};
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < x.size(); ++i) keys.push_back(static_cast<std::uint32_t>(i % 7));
    const auto along = [&](std::vector<std::size_t> shape, int axis) {
      return rows(all, shape, std::vector<int>{axis});
    };
    with_threads([&](const options& chosen) {
      for (const int axis : {0, 1}) {
        check(along({24'000, 1}, axis), chosen);
        check(along({2400, 10}, axis), chosen);
        check(along({6, 4000}, axis), chosen);
      }
      for (const int axis : {0, 1, 2}) check(along({20, 60, 20}, axis), chosen);
      check(rows(all, std::vector<std::size_t>{300, 40}, std::vector<int>{0}, std::vector<std::ptrdiff_t>{2, 600}),
            chosen);
      check(segments(all, array_view(std::span<const std::uint32_t>(offsets))), chosen);
      check(groups(all, array_view(std::span<const std::uint32_t>(keys)), 7), chosen);
    });
  }

  TEST_CASE_TEMPLATE("rows and columns that do not stay in a cache", T, float, double, std::int16_t) {
    const std::vector<T> x = small_values<T>((std::size_t{1} << 22) / sizeof(T));
    const array_view all{std::span<const T>(x)};
    const auto count = static_cast<std::uint32_t>(x.size());
    const std::vector<std::uint32_t> offsets{0, 5, count - 7, count};
    with_threads([&](const options& chosen) {
      const auto along = [&](std::size_t n, int axis) {
        check(rows(all, std::vector{x.size() / n, n}, std::vector{axis}), chosen);
      };
      along(16, 0);
      along(2048, 0);
      along(2048, 1);
      along(x.size() / 2, 1);
      check(rows(input_views(all).part(0, 450'000), std::vector<std::size_t>{300, 1500}, std::vector{0}), chosen);
      check(segments(all, array_view(std::span<const std::uint32_t>(offsets))), chosen);
    });
  }

  TEST_CASE("sums of which each bit depends on the order") {
    const std::vector<float> x = mixed_values<float>(std::size_t{3} << 19, 11);
    with_threads([&](options chosen) {
      constexpr operation whats[] = {operation::sum, operation::standard_deviation, operation::min};
      for (const method how : {method::fast, method::compensated}) {
        chosen.method = how;
        for (const std::size_t n : {3, 48, 6144, 786'432}) {
          for (const int axis : {0, 1}) {
            const batch many =
                rows(array_view(std::span<const float>(x)), std::vector{x.size() / n, n}, std::vector{axis});
            std::vector<float> alone[3], together[3];
            for (int i = 0; i < 2 + (how == method::fast); ++i) {
              alone[i].resize(many.result_count);
              together[i].resize(many.result_count);
              reduce(whats[i], many, alone[i], chosen);
            }
            const results_view out[] = {together[0], together[1], together[2]};
            const auto used = static_cast<std::size_t>(2 + (how == method::fast));
            reduce_each(std::span(whats).first(used), many, std::span(out).first(used), chosen);
            for (std::size_t i = 0; i < used; ++i) {
              CAPTURE(n);
              CHECK(std::memcmp(alone[i].data(), together[i].data(), many.result_count * sizeof(float)) == 0);
            }
          }
        }
      }
    });
  }

  TEST_CASE("masks, and NaN that are skipped") {
    std::vector<double> x = small_values<double>(350'000);
    std::vector<std::uint8_t> mask(x.size(), 1);
    generator random(5);
    for (double& v : x) v = random() % 50 == 0 ? std::numeric_limits<double>::quiet_NaN() : v;
    for (std::uint8_t& entry : mask) entry = random() % 64 != 0;
    const input_views some =
        input_views(array_view(std::span<const double>(x))).where({mask.data(), 0, mask_form::bytes});
    const std::vector<std::uint32_t> offsets{0, 100, 325'000, 350'000};
    with_threads([&](options chosen) {
      for (const nan_policy nan : {nan_policy::propagate, nan_policy::skip}) {
        chosen.nan = nan;
        for (const int axis : {0, 1}) {
          check(rows(some, std::vector<std::size_t>{50, 7000}, std::vector{axis}), chosen);
          check(rows(some, std::vector<std::size_t>{35'000, 10}, std::vector{axis}), chosen);
        }
        check(rows(some, std::vector<std::size_t>{1, 350'000}, std::vector{1}), chosen);
        check(segments(some, array_view(std::span<const std::uint32_t>(offsets))), chosen);
      }
    });
  }

  TEST_CASE("results of no elements have the value of if_empty()") {
    const std::vector<double> x{1, 2, 4};
    const std::vector<std::uint32_t> offsets{0, 2, 2, 3};
    std::vector<double> least(3), means(3), sums(3);
    reduce_each({operation::min, operation::mean, operation::sum}, segments(x, offsets).if_empty(-5.0),
                {least, means, sums});
    CHECK(least == std::vector<double>{1, -5, 4});
    CHECK(means == std::vector<double>{1.5, -5, 4});
    CHECK(sums == std::vector<double>{3, 0, 4});
  }

  TEST_CASE("operations of two inputs") {
    const std::vector<double> x = small_values<double>(600'000), y = small_values<double>(600'000);
    const input_views pairs{std::span<const double>(x), std::span<const double>(y)};
    with_threads([&](const options& chosen) {
      for (const int axis : {0, 1})
        check(rows(pairs, std::vector<std::size_t>{600, 1000}, std::vector{axis}), chosen);
      check(rows(pairs, std::vector<std::size_t>{1, 600'000}, std::vector{1}), chosen);
    });
  }

  TEST_CASE("results are written to the caller's vectors, each of its own type") {
    const std::vector<float> x{1, 2, 3, 4, 5, 9};
    std::vector<double> means(2);
    std::vector<indexed<float>> largest(2);
    std::vector<std::uint64_t> counts(2);
    reduce_each({operation::mean, operation::argmax, operation::count_nonzero}, rows(x, {2, 3}, 1),
                {means, largest, counts});
    CHECK(means == std::vector<double>{2, 6});
    CHECK(largest[1].value == 9);
    CHECK(largest[1].index == 2);
    CHECK(counts == std::vector<std::uint64_t>{3, 3});
  }

  TEST_CASE("an overflow is that of a call alone") {
    std::vector<std::int64_t> x(3000, 1), sums(1000), largest(1000);
    x[2 * 1000 + 5] = x[5] = std::numeric_limits<std::int64_t>::max();
    x[2 * 1000 + 9] = x[9] = std::numeric_limits<std::int64_t>::max();
    const batch many = rows(x, {3, 1000}, 0);
    const std::string alone = message_of<overflow>([&] { sum(many, sums); });
    CHECK(alone.find("5") != std::string::npos);
    CHECK(message_of<overflow>([&] {
            reduce_each({operation::max, operation::sum}, many, {largest, sums});
          }) == alone);
    const std::vector<std::uint32_t> offsets{0, 4, 2};
    const batch wrong = segments(x, offsets);
    std::vector<std::int64_t> two(2), others(2);
    CHECK(message_of<invalid_argument>([&] {
            reduce_each({operation::sum, operation::max}, wrong, {two, others});
          }) == message_of<invalid_argument>([&] { sum(wrong, two); }));
    const std::vector<std::uint32_t> empty{0, 4, 4};
    CHECK(message_of<invalid_argument>([&] {
            reduce_each({operation::sum, operation::max}, segments(x, empty), {two, others});
          }) == message_of<invalid_argument>([&] { max(segments(x, empty), others); }));
  }

  TEST_CASE("what does not fit is refused") {
    const std::vector<double> x(6);
    std::vector<double> means(2), more(3);
    const batch many = rows(x, {2, 3}, 1);
    CHECK(message_of<invalid_argument>([&] { reduce_each({}, many, std::initializer_list<results_view>{}); }) ==
          "there are no operations");
    CHECK(message_of<invalid_argument>([&] {
            reduce_each({operation::sum, operation::max}, many, {means});
          }) == "there are 2 operations, but memory for the results of 1");
    CHECK_THROWS_AS(reduce_each({operation::sum, operation::max}, many, {means, more}), invalid_argument);
    CHECK_THROWS_AS(reduce_each({operation::sum, operation::argmax}, many, {means, means}), invalid_argument);
    CHECK_THROWS_AS(reduce_each({operation::sum, operation::dot}, many, {means, means}), invalid_argument);
    CHECK_THROWS_AS(
        reduce_each({operation::mean, operation::product}, many, {means, means}, {.method = method::exact}),
        unsupported);
    CHECK_THROWS_AS(reduce_each({operation::mean, operation::min}, many, {means, means}, {.backend = "nowhere"}),
                    invalid_argument);
    CHECK_THROWS_AS(reduce_each({operation::mean, operation::min}, many, {means, means}, {.bound = true}),
                    unsupported);
  }
}

}  // namespace fanin::test
