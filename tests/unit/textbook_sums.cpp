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

}  // namespace

TEST_SUITE("unit/textbook_sums") {
  TEST_CASE("the order of the additions") {
    // Beside 2^53 a one is lost: each order loses others.
    const double x[] = {0x1p53, 1, -0x1p53, 1};
    CHECK(textbook_sum_of("naive").sum_f64(x, 4) == 1);      // ((2^53 + 1) - 2^53) + 1
    CHECK(textbook_sum_of("recursive").sum_f64(x, 4) == 2);  // (2^53 - 2^53) + (1 + 1)
    CHECK(textbook_sum_of("recursive").sum_f64(x, 3) == 1);  // (2^53 - 2^53) + 1
    double runs[64] = {0x1p53};
    runs[32] = runs[33] = 1;
    CHECK(textbook_sum_of("naive").sum_f64(runs, 64) == 0x1p53);
    CHECK(textbook_sum_of("pairwise").sum_f64(runs, 64) == 0x1p53 + 2);  // runs of 32
  }

  TEST_CASE("kahan promises nothing beyond n u^2 = 1/64") {
    const auto bound = textbook_sum_of("kahan").bound_f32;
    const std::uint64_t last = std::uint64_t{1} << 42;  // u = 2^-24
    CHECK(std::isfinite(bound(last).of_magnitudes));
    CHECK(std::isinf(bound(last + 1).of_magnitudes));
  }
}
