// SPDX-License-Identifier: Apache-2.0
// The forms in which the verbs of fanin.hpp take their input, and the errors for other forms.
#include <doctest/doctest.h>

#include <array>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "backends/checks.hpp"
#include "tests/support/strided_array.hpp"

namespace {

using namespace fanin;

using test::strided_array;

template <class T, class X>
constexpr bool gives = std::is_same_v<decltype(sum(std::declval<X>()).value), T>;
static_assert(gives<std::int64_t, std::vector<long>> && gives<std::int64_t, std::vector<long long>>);
static_assert(gives<std::uint64_t, std::span<const unsigned long long>> && gives<double, strided_array>);
static_assert(gives<float, std::array<float, 3>> && gives<float, const float (&)[3]>);
static_assert(!elements<std::vector<char>> && !elements<std::vector<bool>> && !elements<std::string> &&
              !elements<int>);

}  // namespace

TEST_SUITE("unit/verbs") {
  TEST_CASE("long and long long, the type that is not listed too") {
    const std::vector<long long> x{1, -2, 1LL << 62};
    const std::vector<unsigned long> y{1, 2, 3};
    CHECK(sum(x).value == (1LL << 62) - 1);
    CHECK(fanin::min(x).value == -2);
    CHECK(sum_of_squares(y).value == 14);
    CHECK(mean(std::vector<long long>{1, 2}).value == 1.5);
    CHECK(log_sum_exp(std::vector<long long>{7}).value == 7.0);
  }

  TEST_CASE("truths, and bool as elements") {
    const std::array<bool, 4> x{false, true, true, false};
    static_assert(std::is_same_v<decltype(any(x).value), bool> &&
                  std::is_same_v<decltype(fanin::max(x).value), std::uint8_t>);
    CHECK(any(x).value);
    CHECK(!all(x).value);
    CHECK(all(std::vector<float>()).value);
    CHECK(!any(std::vector<float>{0.0f, -0.0f}).value);
    CHECK(any({std::numeric_limits<double>::quiet_NaN()}).value);
    CHECK(count_nonzero(x).value == 2);
    CHECK(sum(x).value == 2);
    CHECK(argmax(x).value.index == 1);
  }

  TEST_CASE("a list in braces, and a pointer and a count") {
    CHECK(sum({1.0, 2.0, 3.5}).value == 6.5);
    CHECK(fanin::max({1, 7, 3}, {.backend = "serial"}).value == 7);
    CHECK(sum<double>({0.1f, 0.2f}, {.method = method::exact}).value == 0.1f + static_cast<double>(0.2f));
    const double x[] = {3, 4};
    CHECK(norm2(x, 2).value == 5);
    CHECK(norm2(x, 1, {.backend = "serial"}).value == 3);
    CHECK(sum(static_cast<const double*>(nullptr), 0).value == 0);
    CHECK_THROWS_AS(static_cast<void>(sum(static_cast<const double*>(nullptr), 1)), invalid_argument);
  }

  TEST_CASE("two iterators of elements that lie one after another") {
    const std::vector<double> x{1, 2, 3.5};
    const int y[] = {4, 5, 6};
    CHECK(sum(x.begin(), x.end()).value == 6.5);
    CHECK(mean(x.cbegin() + 1, x.cend(), {.method = fanin::fast}).value == 2.75);
    CHECK(sum(y, y + 2).value == 9);
    CHECK(argmax(y, std::end(y)).value.index == 2);
    CHECK(sum<float>(std::vector<bf16>(3, bf16(1)).data(), 3).value == 3);
    CHECK(sum(x.end(), x.end()).value == 0);
  }

  TEST_CASE("the forms of std::inner_product, and an iterator and a count") {
    const std::vector<double> x{1, 2, 3.5};
    const double y[] = {4, 5, 6};
    CHECK(dot(x.begin(), x.end(), y).value == 35);
    CHECK(vdot(y, y + 2, x.begin(), {.method = fanin::fast}).value == 14);
    CHECK(dot(x.data(), y, 2).value == 14);
    CHECK(dot({1, 2}, {3, 4}).value == 11);
    CHECK(sum(x.begin() + 1, 2).value == 5.5);
    CHECK(fanin::describe(x.begin(), x.end()).value.max == 3.5);
    CHECK(fanin::describe(x.cbegin(), 2, {.backend = "serial"}).value.max == 2);
  }

  TEST_CASE("a method in place of options") {
    const std::vector<double> x{1e16, 1, -1e16, 3};
    const std::vector<double> ones{1, 1, 1, 1};
    const auto is_fast = [](const auto& done) { return done.report.method == fanin::fast; };
    CHECK(is_fast(sum(x, fanin::fast)));
    CHECK(sum(x, method::exact).value == 4);
    CHECK(is_fast(sum(x.begin(), x.end(), fanin::fast)));
    CHECK(is_fast(sum(x.data(), 2, fanin::fast)));
    CHECK(is_fast(sum<double>({1.0f, 2.0f}, fanin::exact)) == false);
    CHECK(is_fast(dot(x, ones, fanin::fast)));
    CHECK(is_fast(dot(x.begin(), x.end(), ones.begin(), fanin::fast)));
    CHECK(is_fast(dot({1.5, 2.5}, {3.5, 4.5}, fanin::fast)));
    CHECK(fanin::describe(x, fanin::exact).value.sum == 4);
    CHECK_THROWS_AS(static_cast<void>(fanin::describe(x, fanin::fast)), invalid_argument);
    std::vector<double> out(2);
    CHECK(sum(rows(x, {2, 2}, 1), out, fanin::compensated).method == method::compensated);
    CHECK(dot(rows(x, ones, {2, 2}, 1), out, fanin::fast).method == method::fast);
    CHECK(out[1] == -1e16 + 3);
    // Empty braces are options with their defaults.
    CHECK(sum(x, {}).report.method == method::exact);
  }

  TEST_CASE("a result converts to its value") {
    const double total = sum({1.5, 2.5});
    CHECK(total == 4);
    CHECK(sum({1.5, 2.5}) + fanin::max({1, 2}) == 6);
    const indexed<double> best = argmax({1.0, 7.0});
    CHECK(best.index == 1);
    if (all({0, 1})) FAIL("there is a zero");
    std::ostringstream printed;
    printed << sum({1, 2});
    CHECK(printed.str() == "3");
  }

  TEST_CASE("blocks of a vector, and of a vector with a mask") {
    incremental stream(operation::sum, element_type::f64);
    const std::vector<double> x{1, 2, 3};
    const std::vector<unsigned char> mask{1, 0, 1};
    stream.push(x);
    stream.push(where(x, mask));
    CHECK(fanin::get<double>(stream.finish()) == 10);
  }

  TEST_CASE("arrays with data() and size(), unless there are gaps between their elements") {
    const double x[] = {1, 2, 3, 4, 5, 6};
    CHECK(sum(strided_array{x, 1, 6, 6}).value == 21);
    CHECK(sum(strided_array{x, 2, 3, 3}).value == 21);
    CHECK(dot(strided_array{x, 2, 3, 3}, x).value == 91);
    CHECK(sum(strided_array{x, 1, 1, 5, 2}).value == 1);
    CHECK_THROWS_AS(static_cast<void>(sum(strided_array{x, 2, 2, 3})), invalid_argument);     // rows are left out
    CHECK_THROWS_AS(static_cast<void>(sum(strided_array{x, 1, 3, 6, 2})), invalid_argument);  // every second element
  }

  TEST_CASE("the most elements that an address space holds") {
    constexpr std::size_t bytes = std::numeric_limits<std::ptrdiff_t>::max();
    const double here = 0;
    for (const element_type type : all_element_types) {
      const std::size_t most = bytes / byte_size(type);
      CHECK_NOTHROW(check_data(array_view(&here, most, type)));
      CHECK_THROWS_AS(check_data(array_view(&here, most + 1, type)), invalid_argument);
    }
  }

  TEST_CASE("a variant of another method is named") {
    const std::vector<float> x(10, 1.0f);
    CHECK_THROWS_WITH_AS(sum(x, {.backend = "serial", .variant = "kahan", .method = method::exact}),
                         doctest::Contains("has no variant 'kahan' for method exact"), unsupported);
  }

  TEST_CASE("two inputs have the same length, type and place") {
    const double x[3] = {1, 2, 3};
    const array_view whole(x, 3, element_type::f64), part(x, 2, element_type::f64), other(x, 3, element_type::i64),
        device(x, 3, element_type::f64, memory::device);
    CHECK_NOTHROW(check_data({whole, whole}));
    for (const array_view& y : {part, other, device}) {
      CHECK_THROWS_AS(check_data({whole, y}), invalid_argument);
      CHECK_THROWS_AS(check_data({y, whole}), invalid_argument);
    }
  }

  TEST_CASE("the version of the headers is that of the library") {
    const std::string parts = std::to_string(FANIN_VERSION_MAJOR) + "." + std::to_string(FANIN_VERSION_MINOR) + "." +
                              std::to_string(FANIN_VERSION_PATCH);
    CHECK(parts == FANIN_VERSION);
    CHECK(std::string(version()) == FANIN_VERSION);
  }
}
