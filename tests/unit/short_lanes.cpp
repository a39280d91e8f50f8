// SPDX-License-Identifier: Apache-2.0
// Tests of short messages: merged in any way, with all lanes after them where one is too short, they give the bits of
// one process.
#include <fanin/short_lanes.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/rank_messages.hpp"

namespace {

using namespace fanin::test;
using fanin::element_type;
using fanin::input_views;
using fanin::operation;

bool is_short(std::vector<double> x) { return message_of_rank(operation::sum, std::span<const double>(x)).is_short; }

}  // namespace

TEST_SUITE_BEGIN("unit/short_lanes");

TEST_CASE("merged messages give the bits of one process, or its error") {
  generator random(1);
  for (const std::size_t count : {0, 1, 2, 3, 40, 256, 257}) {
    for (const element_type type : fanin::all_element_types) {
      fanin::with_element(type, [&]<class T>() {
        for (const auto& x : hard_inputs<T>(count, count + 3)) {
          const std::vector<T> y(x.rbegin(), x.rend());
          for (const operation what : fanin::all_operations) {
            if (!has_lanes(what, type) || fanin::detail::short_lane_count(fanin::lanes_of(what, type)) == 0) continue;
            const fanin::array_view first(x.data(), x.size(), type), second(y.data(), y.size(), type);
            const auto inputs = fanin::row_of(what).inputs == 2 ? input_views(first, second) : input_views(first);
            INFO(fanin::to_string(what), " of ", fanin::to_string(type), ", ", count);
            const std::size_t cut = random() % (count + 1);
            const input_views ranks[] = {inputs.part(0, cut), inputs.part(cut, count - cut)};
            CHECK((value_of_ranks(what, ranks, transport::few_lanes) == value_or_error(what, inputs)));
          }
        }
        return 0;
      });
    }
  }
}

TEST_CASE("which operations fit into a short message") {
  const auto count = [](operation what, element_type type) {
    return fanin::detail::short_lane_count(fanin::lanes_of(what, type));
  };
  CHECK(count(operation::sum, element_type::f64) == 28);
  CHECK(count(operation::dot, element_type::f64) == 26);
  CHECK(count(operation::sum, element_type::f32) == 19);
  CHECK(count(operation::norm2, element_type::f32) == 28);
  CHECK(count(operation::min, element_type::i16) == 2);
  CHECK(count(operation::variance, element_type::f32) == 0);
  CHECK(count(operation::sum, element_type::c64) == 0);
}

TEST_CASE("sums are short if they need the words from 2^-338 up to 2^302 alone") {
  CHECK(is_short({}));
  CHECK(is_short({0x1p-260, 0x1p250, -1}));
  CHECK(is_short({0x1p-286, -0x1.fffffffffffffp237}));
  CHECK(is_short({-0.0, 0, std::numeric_limits<double>::infinity()}));
  CHECK_FALSE(is_short({0x1p-339}));
  CHECK_FALSE(is_short({0x1.0000000000001p-287}));
  CHECK_FALSE(is_short({0x1p-400, 1}));
  CHECK_FALSE(is_short({1, -0x1p310}));
  CHECK_FALSE(is_short(std::vector<double>(300, 0x1p-400)));
}

TEST_CASE("options are those of all lanes") {
  const std::vector<double> x{1, std::numeric_limits<double>::quiet_NaN()};
  const std::span<const double> view(x);
  CHECK(message_of_rank(operation::sum, view, {.nan = fanin::nan_policy::skip}).few.back() == 1);
  CHECK(message_of_rank(operation::sum, view.first(1)).few.back() == 1);
  const std::vector<double> two{1, 2};
  const unsigned char mask[] = {1, 0};
  const input_views masked = input_views(std::span<const double>(two)).where({mask, 0, fanin::mask_form::bytes});
  double value = 0;
  fanin::detail::from_short_lanes(operation::sum, element_type::f64, message_of_rank(operation::sum, masked).few,
                                  value);
  CHECK(value == 1);
  for (const fanin::options& refused :
       {fanin::options{.method = fanin::method::fast}, fanin::options{.result = element_type::f64},
        fanin::options{.backend = "abacus"}, fanin::options{.variant = "abacus"}}) {
    CHECK_THROWS_AS(message_of_rank(operation::sum, view.first(1), refused), fanin::error);
  }
}

TEST_SUITE_END();
