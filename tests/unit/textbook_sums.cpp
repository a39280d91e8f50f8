// SPDX-License-Identifier: Apache-2.0
// Tests of the textbook sums: the order of their additions, and where their bounds end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "backends/serial/textbook_sum.hpp"

namespace {

using namespace fanin;

const serial::textbook_sum& textbook_sum_of(std::string_view name) {
  return *std::ranges::find(serial::textbook_sums(), name, [](const serial::textbook_sum& s) { return s.info.name; });
}

double sum_by(std::string_view name, const double* x, std::size_t count) {
  double sum;
  textbook_sum_of(name).of_f64.reduce({x}, count, element_type::f64, &sum);
  return sum;
}

}  // namespace

TEST_SUITE("unit/textbook_sums") {
  TEST_CASE("the order of the additions") {
    // Beside 2^53 a one is lost: each order loses others.
    const double x[] = {0x1p53, 1, -0x1p53, 1};
    CHECK(sum_by("naive", x, 4) == 1);      // ((2^53 + 1) - 2^53) + 1
    CHECK(sum_by("recursive", x, 4) == 2);  // (2^53 - 2^53) + (1 + 1)
    CHECK(sum_by("recursive", x, 3) == 1);  // (2^53 - 2^53) + 1
    double runs[64] = {0x1p53};
    runs[32] = runs[33] = 1;
    CHECK(sum_by("naive", runs, 64) == 0x1p53);
    CHECK(sum_by("pairwise", runs, 64) == 0x1p53 + 2);  // runs of 32
  }

  TEST_CASE("kahan promises nothing beyond n u^2 = 1/64") {
    const auto bound = [](std::uint64_t count) {
      return textbook_sum_of("kahan").of_f32.bound_of(count, element_type::f32);
    };
    const std::uint64_t last = std::uint64_t{1} << 42;  // u = 2^-24
    CHECK(std::isfinite(bound(last).of_magnitudes));
    CHECK(std::isinf(bound(last + 1).of_magnitudes));
  }
}
