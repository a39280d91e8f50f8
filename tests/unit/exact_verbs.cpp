// SPDX-License-Identifier: Apache-2.0
// Tests that verbs are exact without asking, and the judgement of exact values.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <fanin/fanin.hpp>
#include <fanin/sharded.hpp>

#include "oracle/exact_sum.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

/// Checks that log_sum_exp of a batch of integers, and that by a plan, are those of the same numbers as doubles.
template <class Integers, class Doubles>
void check_log_sums(const Integers& integers, const Doubles& as_doubles) {
  std::vector<double> found(integers.result_count), expected(found.size());
  static_cast<void>(log_sum_exp(integers, found));
  static_cast<void>(log_sum_exp(as_doubles, expected));
  CHECK(found == expected);
  const plan planned(operation::log_sum_exp, integers.inputs.type(), {}, plan::unknown_count, memory::host,
                     integers.kind);
  static_cast<void>(planned(integers, found));
  CHECK(found == expected);
}

}  // namespace

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

  TEST_CASE("a list of arrays in host memory has the bits of one array, with every method") {
    std::vector<float> x(100003);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::ldexp(1.0f / static_cast<float>(i + 1), static_cast<int>(i % 40));
    std::vector<input_views> arrays{array_view(std::span<const float>())};
    for (std::size_t begin = 0, length = 1; begin < x.size(); begin += length, length += 7) {
      arrays.push_back(std::span<const float>(x).subspan(begin, std::min(length, x.size() - begin)));
    }
    for (const method how : {method::fast, method::compensated, method::exact}) {
      for (const operation what :
           {operation::sum, operation::norm2, operation::max, operation::argmax, operation::variance}) {
        const auto one = reduce(what, std::span<const float>(x), {.method = how});
        const auto found = reduce(what, sharded(arrays), {.method = how});
        CHECK(same(found.value, one.value));
        CHECK(found.report.reproducibility == one.report.reproducibility);
      }
    }
    const std::vector<double> other{1};
    arrays.push_back(std::span<const double>(other));
    CHECK_THROWS_AS(reduce(operation::sum, sharded(arrays)), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, sharded(std::span<const input_views>())), invalid_argument);
    arrays.back() = array_view(x.data(), 1, element_type::f32, memory::device);
    CHECK_THROWS_AS(reduce(operation::sum, sharded(arrays)), invalid_argument);
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
    CHECK(norm2(std::vector<std::int32_t>()).value == 0);
  }

  TEST_CASE_TEMPLATE("log_sum_exp of integers is that of the same numbers as doubles", T, std::int8_t, std::uint8_t,
                     std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    using fanin::operation;
    std::vector<T> x(24);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * i % 31);
    if (std::is_signed_v<T>) x[5] = -7;
    const std::vector<double> y(x.begin(), x.end());
    const auto viewed = []<class E>(const std::vector<E>& elements) {
      return fanin::input_views(fanin::array_view(std::span(elements)));
    };
    const double whole = log_sum_exp(y).value;
    CHECK(log_sum_exp(x).value == whole);
    CHECK(log_sum_exp(std::vector<T>()).value == -std::numeric_limits<double>::infinity());
    CHECK(log_sum_exp(std::vector<T>{T{9}}).value == 9);
    CHECK(fanin::plan(operation::log_sum_exp, fanin::type_of<T>)(viewed(x)).value == fanin::scalar(whole));
    const fanin::element_type f32 = fanin::element_type::f32;
    CHECK_THROWS_AS(fanin::plan(operation::log_sum_exp, f32)(viewed(x)), invalid_argument);
    const fanin::plan of_rows(operation::log_sum_exp, f32, {}, fanin::plan::unknown_count, fanin::memory::host,
                              fanin::layout::rows);
    std::vector<float> results(6);
    CHECK_THROWS_AS(of_rows(fanin::rows(x, {6, 4}, 1), results), invalid_argument);
    fanin::incremental blocks(operation::log_sum_exp, fanin::type_of<T>);
    for (std::size_t i = 0; i < x.size(); i += 5)
      blocks.push(viewed(x).part(i, std::min<std::size_t>(5, x.size() - i)));
    CHECK(blocks.finish().value == fanin::scalar(whole));
    std::array<bool, 24> mask{};
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 != 1;
    CHECK(log_sum_exp(where(x, mask)).value == log_sum_exp(where(y, mask)).value);
    for (const int axis : {0, 1, 2}) {
      check_log_sums(fanin::rows(x, {2, 3, 4}, axis), fanin::rows(y, {2, 3, 4}, axis));
      check_log_sums(fanin::rows(where(x, mask), {2, 3, 4}, axis), fanin::rows(where(y, mask), {2, 3, 4}, axis));
    }
    // These rows have every second element, from the last one to the first.
    const std::size_t shape[] = {3, 4};
    const std::ptrdiff_t strides[] = {8, -2};
    const int last = 1;
    const auto backwards = [&](const auto& elements) {
      return fanin::rows(viewed(elements).part(6, 18), shape, std::span(&last, 1), strides);
    };
    check_log_sums(backwards(x), backwards(y));
    const std::vector<std::int32_t> offsets{0, 0, 7, 24};
    check_log_sums(fanin::segments(x, offsets), fanin::segments(y, offsets));
    std::vector<std::uint32_t> keys(24);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i % 5);
    check_log_sums(fanin::groups(x, keys, 6), fanin::groups(y, keys, 6));
    CHECK_THROWS_AS(log_sum_exp(x, {.method = method::exact}), unsupported);
    if constexpr (sizeof(T) == 8) {
      x[1] = (T{1} << 53) + 1;
      CHECK_THROWS_WITH_AS(log_sum_exp(x),
                           "log_sum_exp takes integers as f64, and 9007199254740993 would be rounded: convert the "
                           "elements to f64",
                           fanin::overflow);
      CHECK(log_sum_exp(where(x, mask)).value == log_sum_exp(where(y, mask)).value);
      x[1] = std::numeric_limits<T>::max();
      CHECK_THROWS_AS(log_sum_exp(x), fanin::overflow);
      x[1] = T{1} << 62;
      CHECK(log_sum_exp(x).value == 0x1p62);
    }
  }

  TEST_CASE_TEMPLATE("log_sum_exp of many integers has the bits of the same numbers as doubles", T, std::int8_t,
                     std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                     std::uint64_t) {
    constexpr std::size_t rows = 1100, columns = 43;  // more than a leaf, and no whole block
    generator random(1);
    for (const int bits : {1, 4, 8}) {
      std::vector<T> x(rows * columns);
      for (T& one : x)
        one = static_cast<T>(static_cast<T>(random()) >> (8 * sizeof(T) - static_cast<unsigned>(bits)));
      x[7] = sizeof(T) == 8 ? static_cast<T>((std::uint64_t{1} << 53) - 1) : std::numeric_limits<T>::max();
      x[9] = std::is_unsigned_v<T> ? 0
             : sizeof(T) == 8      ? -static_cast<T>(std::uint64_t{1} << 53)
                                   : std::numeric_limits<T>::min();
      const std::vector<double> y(x.begin(), x.end());
      CHECK(log_sum_exp(x).value == log_sum_exp(y).value);
      for (const int axis : {0, 1})
        check_log_sums(fanin::rows(x, {rows, columns}, axis), fanin::rows(y, {rows, columns}, axis));
      const std::vector<std::uint32_t> offsets{0, 64, 97, 98, 5000, 47300};
      check_log_sums(fanin::segments(x, offsets), fanin::segments(y, offsets));
      std::vector<std::uint32_t> keys(x.size());
      for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random() % 100);
      check_log_sums(fanin::groups(x, keys, 100), fanin::groups(y, keys, 100));
    }
  }

  TEST_CASE_TEMPLATE("log_sum_exp of integers at the ends of a table, and beyond the near ones, is that of doubles",
                     T, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    constexpr std::size_t columns = 35, rows = 1200;
    const std::vector<std::uint32_t> offsets{0, 1, 3, 67, 131, 1155, 42000};
    for (const int other : {511, 512, 600, 601, 5000, -512, -513, -600, -601, -5000}) {
      if (std::is_unsigned_v<T> && other < 0) continue;
      CAPTURE(other);
      std::vector<T> x(columns * rows);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i * 7 % 23 + 1);
      for (const std::size_t row : {std::size_t{40}, rows - 1}) x[row * columns + 3] = static_cast<T>(other);
      x[1] = x[70] = static_cast<T>(other);
      const std::vector<double> y(x.begin(), x.end());
      CHECK(log_sum_exp(x).value == log_sum_exp(y).value);
      for (const int axis : {0, 1})
        check_log_sums(fanin::rows(x, {rows, columns}, axis), fanin::rows(y, {rows, columns}, axis));
      check_log_sums(fanin::segments(x, offsets), fanin::segments(y, offsets));
      const std::vector<std::uint32_t> keys(x.size());
      check_log_sums(fanin::groups(x, keys, 1), fanin::groups(y, keys, 1));
    }
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
