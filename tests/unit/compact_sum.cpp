// SPDX-License-Identifier: Apache-2.0
// Tests of compact sums: each has the values and the saved bytes of an exact accumulator of the same elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fanin/compact_moments.hpp>

#include "tests/support/inputs.hpp"

namespace {

using fanin::compact_moments;
using fanin::compact_square_sum;
using fanin::compact_sum;
using fanin::exact_accumulator;
using fanin::exact_moments_accumulator;
using fanin::test::generator;

template <class T>
using limits = std::numeric_limits<T>;

static_assert(sizeof(compact_sum<float>) == 48 && sizeof(compact_sum<double>) == 48);
static_assert(sizeof(compact_moments<float>) == 112 && sizeof(compact_moments<double>) == 112);

template <class T>
exact_moments_accumulator<T> exact(const std::vector<T>& x) {
  exact_moments_accumulator<T> sums;
  for (const T one : x) sums.add(one);
  return sums;
}

template <class R>
bool same_bits(R x, R y) {
  return fanin::detail::to_bits(x) == fanin::detail::to_bits(y);
}

template <class T, int Power>
bool same(const fanin::basic_compact_sum<T, Power>& sum, const fanin::basic_exact_accumulator<T, Power>& expected) {
  if constexpr (Power == 2) {
    if (!same_bits(sum.root(), expected.root())) return false;
  }
  return sum.save() == expected.save() && (expected.count() == 0 || same_bits(sum.mean(), expected.mean())) &&
         same_bits(sum.round(), expected.round()) &&
         same_bits(sum.template round<float>(), expected.template round<float>()) &&
         same_bits(sum.template round<fanin::bf16>(), expected.template round<fanin::bf16>());
}

template <class T>
bool same(const compact_moments<T>& sums, const exact_moments_accumulator<T>& expected) {
  const std::uint64_t count = expected.sum.count();
  for (const unsigned ddof : {0U, 1U}) {
    for (const bool root : {false, true}) {
      if (count > ddof &&
          !same_bits(sums.dispersion({root, ddof}), expected.template dispersion_of<T>(count, {root, ddof}))) {
        return false;
      }
    }
  }
  return same(sums.sum(), expected.sum) && same(sums.squares(), expected.squares);
}

/// A number whose exponent is one of `range` from `lowest` on; some are zeros and negative zeros.
template <class T>
T number(generator& random, int lowest, int range) {
  const auto kind = random() % 32;
  if (kind < 2) return kind == 0 ? T{0} : -T{0};
  const T size = std::ldexp(static_cast<T>(random() >> 11) + 1, lowest - 53 + static_cast<int>(random() % range));
  return random() % 2 == 0 ? size : -size;
}

/// Any number; for an exponent range above 500 also the extreme ones, NaN and the infinities.
template <class T>
T any_number(generator& random, int lowest, int range) {
  if (range > 500) {
    switch (random() % 40) {
      case 0:
        return limits<T>::denorm_min() * static_cast<T>(random() % 9);
      case 1:
        return limits<T>::lowest();
      case 2:
        return limits<T>::infinity();
      case 3:
        return limits<T>::quiet_NaN();
      default:
        break;
    }
  }
  return number<T>(random, lowest, range);
}

template <class T>
void check_random(int most_range) {
  generator random(most_range);
  for (int round = 0; round < 1500; ++round) {
    const int range = 1 + static_cast<int>(random() % most_range), lowest = -static_cast<int>(random() % 100);
    std::vector<T> x(random() % 30);
    for (T& one : x) one = any_number<T>(random, lowest, range);
    CAPTURE(range);
    CAPTURE(lowest);
    compact_moments<T> sum, parts[3];
    for (const T one : x) {
      sum.add(one);
      parts[random() % 3].add(one);
    }
    CHECK(same(sum, exact(x)));
    compact_moments<T> merged = parts[1];
    merged.merge(parts[0]);
    merged.merge(std::as_const(parts)[2]);
    CHECK(same(merged, exact(x)));
    CHECK(same(compact_moments<T>::load(merged.save()), exact(x)));
    std::vector<T> left;
    for (const T one : x) {
      if (!std::isfinite(one) || random() % 2 == 0) {
        left.push_back(one);
      } else {
        merged.subtract(one);
      }
    }
    CHECK(same(merged, exact(left)));
    CHECK(same(sum, exact(x)));
  }
}

}  // namespace

TEST_SUITE("unit/compact_sum") {
  TEST_CASE_TEMPLATE("has the value and the bytes of an exact accumulator", T, float, double) {
    for (const int most_range : {4, 60, 110, 900}) {
      CAPTURE(most_range);
      check_random<T>(sizeof(T) == 4 ? std::min(most_range, 120) : most_range);
    }
    check_random<T>(sizeof(T) == 4 ? 501 : 1100);
  }

  TEST_CASE("adds strided elements, and those that are valid") {
    const double x[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
    compact_sum<double> strided, back, valid;
    strided.add(x, 5, 2);
    CHECK(strided.round() == 1 + 4 + 16 + 64 + 256);
    back.add(x + 9, 3, -3);
    CHECK(back.round() == 512 + 64 + 8);
    const std::uint8_t bits[] = {0b10000001, 0b10};
    valid.add(x, 10, 1, bits);
    CHECK(valid.round() == 1 + 128 + 512);
    CHECK(valid.count() == 3);
    compact_moments<double> both;
    both.add(x, 5, 2, bits);
    CHECK(both.count() == 1);
    both.add(x + 9, 3, -3);
    CHECK(both.sum().round() == 1 + 512 + 64 + 8);
    CHECK(both.squares().round() == 1 + 512 * 512 + 64 * 64 + 8 * 8);
    CHECK(both.count() == 4);
  }

  TEST_CASE("cancels, moves far down and far up, and copies a sum of many words") {
    compact_sum<double> sum;
    for (const double x : {1.0, 0x1p70, -0x1p70, 0x1p-60, 1e300, -1e300, 0x1p-1074}) sum.add(x);
    compact_sum<double> copy = sum, moved = std::move(sum);
    copy.subtract(1.0);
    CHECK(copy.round() == 0x1p-60);
    CHECK(moved.round() == 1.0);
    sum = copy;
    sum.subtract(0x1p-60);
    CHECK(sum.round() == 0x1p-1074);
    sum = std::move(moved);
    CHECK(sum.count() == 7);
  }

  TEST_CASE("holds 2^62 elements of the largest number that fits its words") {
    compact_sum<double> sum, small;
    sum.add(1.0);
    sum.add(0x1.fffffffffffffp38);
    sum.subtract(1.0);
    for (int i = 0; i < 62; ++i) sum.merge(compact_sum<double>(sum));
    CHECK(sum.count() == std::uint64_t{1} << 62);
    CHECK(sum.round() == 0x1.fffffffffffffp100);
    small.add(1.0);
    small.add(0x1p-99);  // The words have one bit to spare.
    for (int i = 0; i < 5; ++i) small.merge(compact_sum<double>(small));
    CHECK(small.round() == 32);
    CHECK_THROWS_AS(sum.merge(small), fanin::overflow);
    CHECK(sum.round() == 0x1.fffffffffffffp100);
  }

  TEST_CASE("holds squares of 2^62 elements in place, and squares of any size on the heap") {
    compact_square_sum<double> squares;
    squares.add(1.0);
    squares.add(0x1.fffffffffffffp38);
    squares.subtract(1.0);
    for (int i = 0; i < 62; ++i) squares.merge(compact_square_sum<double>(squares));
    CHECK(squares.root() == 0x1.fffffffffffffp69);
    CHECK(squares.mean() == 0x1.ffffffffffffep77);
    for (const double far : {0x1p-537, 0x1p-1074, 0x1.8p1023}) {
      compact_moments<double> sums;
      for (const double x : {far, -far, far, -0.0}) sums.add(x);
      CHECK(sums.squares().root() == std::sqrt(3.0) * far);
      sums.add(1.0);
      sums.subtract(far);
      sums.subtract(-far);
      sums.subtract(far);
      CHECK(sums.squares().root() == 1.0);
      CHECK(sums.dispersion() == 0.25);
    }
  }

  TEST_CASE("refuses what has no exact answer") {
    compact_sum<double> sum;
    CHECK_THROWS_AS(sum.subtract(1.0), fanin::invalid_argument);
    CHECK_THROWS_AS(sum.mean(), fanin::invalid_argument);
    sum.add(limits<double>::infinity());
    CHECK_THROWS_AS(sum.subtract(limits<double>::infinity()), fanin::invalid_argument);
    CHECK(sum.count() == 1);
    CHECK(sum.round() == limits<double>::infinity());
    compact_moments<double> sums, others;
    CHECK_THROWS_AS(sums.subtract(1.0), fanin::invalid_argument);
    CHECK_THROWS_AS(sums.dispersion(), fanin::invalid_argument);
    sums.add(1.0);
    CHECK_THROWS_AS(sums.dispersion({.ddof = 1}), fanin::invalid_argument);
    CHECK_THROWS_AS(sums.subtract(limits<double>::quiet_NaN()), fanin::invalid_argument);
    CHECK(sums.dispersion() == 0);
    auto mixed = sums.save();
    const auto squares_of_none = others.squares().save();
    std::copy(squares_of_none.begin(), squares_of_none.end(), mixed.begin() + compact_sum<double>::saved_bytes);
    CHECK_THROWS_AS(compact_moments<double>::load(mixed), fanin::invalid_argument);
    CHECK_THROWS_AS(compact_moments<double>::load(std::span(mixed).first(8)), fanin::invalid_argument);
    CHECK_THROWS_AS(compact_sum<double>::load(exact_accumulator<float>().save()), fanin::invalid_argument);
  }
}
