// SPDX-License-Identifier: Apache-2.0
// Tests of sums over ranks at the edges of the words in which they travel: numbers of every exponent, on one to seven
// ranks.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <fanin/state.hpp>

#include "tests/support/rank_messages.hpp"

namespace {

using namespace fanin::test;
using fanin::element_type;
using fanin::input_views;
using fanin::operation;

/// `count` numbers of about 2^exponent. These are one number again and again, or different numbers of both signs.
/// One of the numbers may have any exponent.
template <class T>
std::vector<T> numbers_at(int exponent, std::size_t count, generator& random) {
  using limits = std::numeric_limits<T>;
  const auto number = [&](int e) {
    const bool is_full = random() % 2 == 0;
    const auto mantissa = is_full ? T(random() >> 12) + T(0x1p52) : T((1 + random() % 7) << 50);
    return std::ldexp(random() % 2 == 0 ? -mantissa : mantissa, e - 52);
  };
  std::vector<T> x(count, number(exponent));
  const auto kind = random() % 3;
  if (kind > 0) {
    for (T& one : x) one = number(exponent - static_cast<int>(random() % 3));
  }
  constexpr int lowest = limits::min_exponent - limits::digits, binades = limits::max_exponent - lowest;
  if (kind > 1) x[random() % count] = number(lowest + static_cast<int>(random() % binades));
  return x;
}

template <class T>
std::vector<T> elements_at(int exponent, std::size_t count, generator& random) {
  if constexpr (fanin::complex_number<T>) {
    return fanin::oracle::paired(numbers_at<fanin::part_of<T>>(exponent, 2 * count, random));
  } else {
    return as_elements<T>(numbers_at<fanin::computed_as<T>>(exponent, count, random));
  }
}

/// Checks every operation that has lanes, and every transport of them, against one process.
template <class T>
void check_ranks(const std::vector<T>& x, const std::vector<T>& y, std::size_t ranks) {
  constexpr element_type type = fanin::type_of<T>;
  const fanin::array_view first{std::span<const T>(x)}, second{std::span<const T>(y)};
  for (const operation what : fanin::all_operations) {
    if (!has_lanes(what, type)) continue;
    const auto inputs = fanin::row_of(what).inputs == 2 ? input_views(first, second) : input_views(first);
    std::vector<input_views> parts;
    for (std::size_t i = 0; i < ranks; ++i) {
      const std::size_t begin = x.size() * i / ranks, end = x.size() * (i + 1) / ranks;
      parts.push_back(inputs.part(begin, end - begin));
    }
    const std::string expected = value_or_error(what, inputs);
    for (const transport how : transports) {
      if (!is_served(what, type, how)) continue;
      INFO(fanin::to_string(what), " of ", fanin::to_string(type), ", ranks ", ranks, ", transport ", int(how));
      CHECK((value_of_ranks(what, parts, how) == expected));
    }
  }
}

/// Checks numbers of every exponent. Now and then a rank has too many elements for a sum in two doubles.
template <class T>
void check_every_exponent(std::size_t most_ranks) {
  using limits = std::numeric_limits<fanin::computed_as<fanin::part_of<T>>>;
  generator random(1);
  for (int exponent = limits::min_exponent - limits::digits; exponent < limits::max_exponent; ++exponent) {
    for (std::size_t ranks = 1; ranks <= most_ranks; ++ranks) {
      CAPTURE(exponent);
      const std::size_t count = ranks * (random() % 32 == 0 ? 257 : 1 + random() % 3);
      check_ranks(elements_at<T>(exponent, count, random), elements_at<T>(0, count, random), ranks);
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("unit/rank_sums");

TEST_CASE("numbers of every exponent, on one to seven ranks, give the bits of one process") {
  SUBCASE("f64") { check_every_exponent<double>(7); }
  SUBCASE("f32") { check_every_exponent<float>(7); }
  SUBCASE("bf16") { check_every_exponent<fanin::bf16>(3); }
  SUBCASE("c64") { check_every_exponent<std::complex<float>>(3); }
  SUBCASE("c128") { check_every_exponent<std::complex<double>>(3); }
}

TEST_CASE("sums of 2^301 and of 2^315 have their sign, on one rank and on several") {
  for (const std::size_t ranks : {1, 2, 4, 7}) {
    for (const double x : {0x1p301, 0x1.8p301, -0x1.8p301, 0x1p300, 0x1.8p157}) {
      const std::vector<double> all(ranks, x);
      CAPTURE(x);
      check_ranks(all, all, ranks);
    }
  }
}

TEST_CASE_TEMPLATE("lanes of states, of every exponent", T, float, double) {
  using exact = fanin::exact_accumulator<T>;
  using limits = std::numeric_limits<T>;
  generator random(3);
  for (int exponent = limits::min_exponent - limits::digits; exponent < limits::max_exponent; ++exponent) {
    const std::vector<T> x = numbers_at<T>(exponent, 7, random);
    exact all;
    std::array<std::int64_t, exact::lane_count> sums{}, trusted_sums{}, lanes;
    for (const T one : x) {
      exact state;
      state.add(one);
      all.add(one);
      state.to_lanes(lanes);
      std::ranges::transform(sums, lanes, sums.begin(), std::plus());
      state.write_lanes(lanes.data());
      std::ranges::transform(trusted_sums, lanes, trusted_sums.begin(), std::plus());
    }
    CAPTURE(exponent);
    CHECK(exact::from_lanes(sums).save() == all.save());
    CHECK(exact::from_lanes(trusted_sums).save() == all.save());
    CHECK(exact::read_lanes(trusted_sums.data()).save() == all.save());
  }
}

TEST_SUITE_END();
