// SPDX-License-Identifier: Apache-2.0
// Tests of reductions whose partial results travel as lanes: merged in any way, they give the bits of one process.
#include <fanin/lanes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/hard_inputs.hpp"

namespace {

using namespace fanin::test;
using fanin::element_type;
using fanin::input_views;
using fanin::operation;

using lane_list = std::vector<std::int64_t>;

void merge(const fanin::lane_format& format, lane_list& into, const lane_list& from) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] = format.merge == fanin::lane_merge::sum ? into[i] + from[i] : std::max(into[i], from[i]);
  }
}

/// The lanes of the elements, cut at random into `parts`, some of them empty, and merged in a random order.
lane_list merged_lanes(operation what, const input_views& inputs, std::size_t parts, const fanin::options& chosen,
                       generator& random) {
  const fanin::lane_format format = fanin::lanes_of(what, inputs.type());
  std::vector<std::size_t> cuts{0, inputs.count()};
  for (std::size_t i = 1; i < parts; ++i) cuts.push_back(random() % (inputs.count() + 1));
  std::ranges::sort(cuts);
  std::vector<lane_list> all;
  for (std::size_t i = 0; i < parts; ++i) {
    all.emplace_back(format.count);
    fanin::to_lanes(what, inputs.part(cuts[i], cuts[i + 1] - cuts[i]), all.back(), chosen);
  }
  while (all.size() > 1) {
    std::swap(all[random() % all.size()], all.back());
    const lane_list last = std::move(all.back());
    all.pop_back();
    merge(format, all[random() % all.size()], last);
  }
  return all.front();
}

std::string value_of_lanes(operation what, const input_views& inputs, std::size_t parts, const fanin::options& chosen,
                           generator& random) {
  return value_or_error(what, inputs.type(), [&](const fanin::result_view& value) {
    fanin::from_lanes(what, inputs.type(), merged_lanes(what, inputs, parts, chosen, random), value);
  });
}

template <class F>
void for_each_hard_input(std::size_t count, F f) {
  for (const element_type type : fanin::all_element_types) {
    fanin::with_element(type, [&]<class T>() {
      for (const auto& x : hard_inputs<T>(count, count + 17)) {
        std::vector<T> y(x.rbegin(), x.rend());
        for (const operation what : fanin::all_operations) {
          if (!has_lanes(what, type)) continue;
          const fanin::array_view first(x.data(), x.size(), type), second(y.data(), y.size(), type);
          f(what, fanin::row_of(what).inputs == 2 ? input_views(first, second) : input_views(first));
        }
      }
      return 0;
    });
  }
}

}  // namespace

TEST_SUITE_BEGIN("unit/lanes");

TEST_CASE("merged lanes give the bits of one process, or its error") {
  generator random(1);
  for (const std::size_t count : {0, 1, 2, 7, 300}) {
    for_each_hard_input(count, [&](operation what, const input_views& inputs) {
      INFO(fanin::to_string(what), " of ", fanin::to_string(inputs.type()), ", ", count);
      const std::string expected = value_or_error(what, inputs);
      for (const std::size_t parts : {1, 2, 5}) {
        CHECK((value_of_lanes(what, inputs, parts, {}, random) == expected));
      }
    });
  }
}

TEST_CASE("elements that do not take part are left out by every participant") {
  generator random(2);
  const fanin::options skip{.nan = fanin::nan_policy::skip};
  std::vector<unsigned char> mask(90);
  for (auto& one : mask) one = random() % 3 != 0;
  const fanin::mask_view some{mask.data(), 0, fanin::mask_form::bytes};
  for_each_hard_input(mask.size(), [&](operation what, const input_views& inputs) {
    INFO(fanin::to_string(what), " of ", fanin::to_string(inputs.type()));
    CHECK((value_of_lanes(what, inputs, 4, skip, random) == value_or_error(what, inputs, skip)));
    const input_views masked = inputs.where(some);
    CHECK((value_of_lanes(what, masked, 4, skip, random) == value_or_error(what, masked, skip)));
  });
}

TEST_CASE("long sums have lanes that are small enough for two million states") {
  const std::vector<double> x(100000, -std::numeric_limits<double>::max());
  lane_list lanes(fanin::lanes_of(operation::sum, element_type::f64).count);
  fanin::to_lanes(operation::sum, std::span(x), lanes);
  for (std::size_t i = 0; i + 1 < lanes.size(); ++i) CHECK(std::abs(lanes[i]) < std::int64_t{1} << 40);
}

TEST_CASE("words that a transport may leave out are 0, whatever the sign") {
  for (const operation what : {operation::sum, operation::dot, operation::norm2}) {
    const fanin::lane_format format = fanin::lanes_of(what, element_type::f64);
    REQUIRE(format.words > format.short_words);
    for (const double factor : {1.0, -1.0}) {
      std::vector<double> x;
      for (int i = 0; i < 3000; ++i)
        x.push_back(factor * std::ldexp(1 + i, what == operation::sum ? i % 400 - 260 : i % 200 - 120));
      const std::vector<double> ones(x.size(), 0x1p-20);
      lane_list lanes(format.count);
      const input_views first{std::span<const double>(x)},
          pairs{std::span<const double>(x), std::span<const double>(ones)};
      fanin::to_lanes(what, what == operation::dot ? pairs : first, lanes);
      for (std::size_t i = 0; i < format.words; ++i) {
        if (i < format.first_short_word || i >= format.first_short_word + format.short_words) CHECK(lanes[i] == 0);
      }
    }
  }
}

TEST_CASE("a negative sum that was kept in two's complement has the lanes of its digits only") {
  using exact = fanin::exact_accumulator<double>;
  for (const double x : {-1.0, -0x1p-1074, -0x1.8p100}) {
    exact one;
    one.add(x);
    exact kept = exact::load(one.save());
    kept.add(x);
    lane_list lanes(exact::lane_count);
    kept.write_lanes(lanes.data());
    CHECK(std::ranges::count_if(lanes, [](std::int64_t lane) { return lane < 0; }) == 1);
    CHECK(exact::read_lanes(lanes.data()).round() == 2 * x);
  }
}

TEST_CASE("two million states of large lanes are added without overflow") {
  using exact = fanin::exact_accumulator<double>;
  exact doubled;
  for (int i = 0; i < 254; ++i) doubled.add(-0x1.fffffffffffffp-1000);
  lane_list lanes(exact::lane_count);
  doubled.write_lanes(lanes.data());
  for (std::int64_t& lane : lanes) REQUIRE_FALSE(__builtin_mul_overflow(lane, std::int64_t{1} << 21, &lane));
  for (int i = 0; i < 21; ++i) doubled.merge(exact(doubled));
  exact many = exact::read_lanes(lanes.data());
  CHECK(many.save() == doubled.save());
  CHECK(many.save() == exact::from_lanes(std::span<const std::int64_t, exact::lane_count>(lanes)).save());
  many.merge(exact(many));
  CHECK(many.round() == 2 * doubled.round());
}

TEST_CASE("what has no lanes is refused by name") {
  for (const operation what : {operation::product, operation::log_sum_exp, operation::argmin, operation::argmax}) {
    CHECK_THROWS_WITH_AS(fanin::lanes_of(what, element_type::f64),
                         doctest::Contains(std::string(fanin::to_string(what)).c_str()), fanin::unsupported);
  }
  lane_list lanes(3);
  const std::vector<double> x(2);
  CHECK_THROWS_AS(fanin::to_lanes(operation::sum, std::span(x), lanes), fanin::invalid_argument);
  lanes.resize(fanin::lanes_of(operation::sum, element_type::f64).count);
  CHECK_THROWS_AS(fanin::to_lanes(operation::sum, std::span(x), lanes, {.method = fanin::method::fast}),
                  fanin::invalid_argument);
  float narrower;
  CHECK_THROWS_AS(fanin::from_lanes(operation::sum, element_type::f64, lanes, narrower), fanin::invalid_argument);
}

TEST_SUITE_END();
