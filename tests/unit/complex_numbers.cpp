// SPDX-License-Identifier: Apache-2.0
// The verbs on complex numbers: types, reports, and calls that are refused. conformance/ has the values.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace {

using namespace fanin;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

constexpr options rounded_once{.method = method::exact};

}  // namespace

TEST_SUITE("unit/complex_numbers") {
  TEST_CASE("types of results") {
    const std::vector<c64> x{{1, 2}, {3, -4}};
    const std::vector<c128> wide(x.begin(), x.end());
    const c64 total = sum(x).value;
    CHECK(total == c64(4, -2));
    CHECK(sum(wide).value == c128(4, -2));
    CHECK(mean(x).value == c64(2, -1));
    CHECK(sum<c128>(x, rounded_once).value == c128(4, -2));
    CHECK(product(x).value == c64(11, 2));
    CHECK(dot(x, x).value == c64(-10, -20));
    CHECK(vdot(x, x).value == c64(30, 0));
    CHECK(vdot<c128>(x, x, rounded_once).value == c128(30, 0));
    const float length = norm2(x).value, sizes = sum_of_magnitudes(x).value;
    CHECK(length == std::sqrt(30.0f));
    CHECK(sizes == static_cast<float>(std::sqrt(5.0) + 5));
    CHECK(norm2<double>(x, rounded_once).value == std::sqrt(30.0));
    CHECK(norm2(x).report.method == method::exact);
    CHECK(sum({c64(1, 1), c64(2, 2)}).value == c64(3, 3));
    CHECK(fanin::get<c64>(reduce(operation::sum, std::span<const c64>(x)).value) == total);
    CHECK(vdot(std::vector<float>{1, 2}, std::vector<float>{3, 4}).value == 11);
  }

  TEST_CASE("what there is not") {
    const std::vector<c64> x{{1, 2}, {3, 4}};
    const array_view view{std::span<const c64>(x)};
    for (const operation what : all_operations) {
      for (const method how : all_methods) {
        if (row_of(what).inputs == 2 || is_offered(what, element_type::c64, how)) continue;
        CHECK_THROWS_AS(reduce(what, view, {.method = how}), unsupported);
      }
    }
    CHECK_THROWS_AS(reduce(operation::sum, view, {.method = method::fast, .result = element_type::c128}),
                    unsupported);
    CHECK_THROWS_AS(reduce(operation::norm2, view, {.result = element_type::c64}), unsupported);
    CHECK_THROWS_AS(mean(std::vector<c64>()), invalid_argument);
    CHECK_THROWS_AS(dot(x, std::vector<c64>(3)), invalid_argument);
  }

  TEST_CASE("elements that do not take part") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<c64> x{{nan, 1}, {2, 3}, {4, nan}, {5, -1}};
    const std::array<bool, 4> mask{true, true, true, false};
    const options skipping{.nan = nan_policy::skip};
    const auto some = mean(x, skipping);
    CHECK(some.value == c64(3.5f, 1));
    CHECK(some.report.absent == 2);
    CHECK(product(where(x, mask), skipping).value == c64(2, 3));
    CHECK(dot(where(x, mask), x, skipping).value == c64(-5, 12));
    CHECK_THROWS_AS(mean(where(x, std::array<bool, 4>{}), skipping), invalid_argument);
  }

  TEST_CASE("plans and streams have the bits of a call") {
    const auto x = test::mixed_values<c128>(300007, 3);
    const auto view = std::span<const c128>(x);
    for (const operation what : {operation::sum, operation::mean, operation::norm2, operation::sum_of_magnitudes}) {
      const options fast{.method = method::fast};
      const scalar expected = reduce(what, view, fast).value;
      CHECK(plan(what, element_type::c128, fast)(view).value == expected);
      incremental blocks(what, element_type::c128, fast);
      blocks.push(view.first(1234));
      blocks.push(view.subspan(1234));
      CHECK(blocks.finish().value == expected);
    }
  }
}
