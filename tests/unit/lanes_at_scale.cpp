// SPDX-License-Identifier: Apache-2.0
// Tests of lanes at the scale of the largest machines: a million virtual ranks, and as many elements as a state
// counts.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "tests/support/rank_messages.hpp"

namespace {

using namespace fanin::test;
using fanin::element_type;
using fanin::input_views;
using fanin::operation;

constexpr std::size_t virtual_ranks = std::size_t{1} << 20;

/// Merges the lanes of virtual ranks along a random binary tree. Each rank has one element or one pair.
class random_tree {
 public:
  using lane_array = std::array<std::int64_t, fanin::most_lanes>;
  random_tree(operation what, const input_views& inputs, std::uint64_t seed)
      : what_(what), inputs_(inputs), format_(fanin::lanes_of(what, inputs.type())), random_(seed) {}

  std::string value() {
    lane_array all;
    merge(0, inputs_.count(), all);
    return value_or_error(what_, inputs_.type(), [&](const fanin::result_view& value) {
      fanin::from_lanes(what_, inputs_.type(), {all.data(), format_.count}, value);
    });
  }

 private:
  void merge(std::size_t first, std::size_t count, lane_array& into) {
    if (count == 1) {
      fanin::to_lanes(what_, inputs_.part(first, 1), {into.data(), format_.count}, {.backend = "serial"});
      return;
    }
    const std::size_t left = 1 + random_() % (count - 1);
    lane_array right;
    merge(first, left, into);
    merge(first + left, count - left, right);
    for (std::size_t i = 0; i < format_.count; ++i) {
      into[i] = format_.merge == fanin::lane_merge::sum ? into[i] + right[i] : std::max(into[i], right[i]);
    }
  }

  operation what_;
  input_views inputs_;
  fanin::lane_format format_;
  generator random_;
};

}  // namespace

TEST_SUITE_BEGIN("unit/lanes_at_scale");

TEST_CASE("2^20 virtual ranks in random trees give the bits of one process") {
  adversary<double> make(5);
  for (const auto& kind : make.kinds()) {
    if (std::string_view(kind.name) != "any number" && std::string_view(kind.name) != "rounding errors") continue;
    const auto x = make.make(kind, virtual_ranks), y = make.make(kind, virtual_ranks);
    for (const operation what : {operation::sum, operation::dot, operation::max}) {
      const fanin::array_view first{std::span<const double>(x)}, second{std::span<const double>(y)};
      const input_views inputs = what == operation::dot ? input_views(first, second) : input_views(first);
      INFO(fanin::to_string(what), " of ", kind.name);
      CHECK((random_tree(what, inputs, 6).value() == value_or_error(what, inputs)));
    }
  }
}

TEST_CASE("2^20 ranks of 2^40 elements each") {
  using exact = fanin::exact_accumulator<double>;
  for (const double x : {-1.7976931348623157e308, 4.9e-324, -0.1}) {
    exact one;
    one.add(x);
    const auto double_times = [](exact state, int times) {
      for (int i = 0; i < times; ++i) state.merge(exact(state));
      return state;
    };
    const exact rank = double_times(one, 40);
    std::array<std::int64_t, exact::lane_count> lanes;
    rank.write_lanes(lanes.data());
    for (std::int64_t& lane : lanes) REQUIRE_FALSE(__builtin_mul_overflow(lane, std::int64_t{1} << 20, &lane));
    const exact all = exact::read_lanes(lanes.data());
    CHECK(all.count() == std::uint64_t{1} << 60);
    CHECK(all.save() == double_times(one, 60).save());
  }
}

TEST_CASE("the largest lanes of 2^21 ranks, of either sign, are rounded as words among all words are") {
  constexpr std::int64_t largest = ((std::int64_t{1} << 40) - 1) << 21;
  const std::vector<double> two{1, 1};
  generator random(2);
  for (const operation what : {operation::sum, operation::sum_of_squares, operation::dot}) {
    const fanin::lane_format format = fanin::lanes_of(what, element_type::f64);
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<std::int64_t> few =
          message_of_rank(what, fanin::detail::repeated(what, std::span<const double>(two))).few;
      const auto words = std::span(few).first(format.short_words);
      for (std::int64_t& word : words) word = turn < 2 ? largest : largest * (static_cast<int>(random() % 3) - 1);
      if (turn == 1) std::ranges::transform(words, words.begin(), std::negate());
      std::vector<std::int64_t> all(format.count);
      fanin::detail::expand_lanes(format, few, all);
      double expected = 0;
      fanin::from_lanes(what, element_type::f64, all, expected);
      double value = 0;
      fanin::detail::from_short_lanes(what, element_type::f64, few, value);
      CHECK(value == expected);
    }
  }
}

TEST_CASE_TEMPLATE("the largest integers on 2^21 ranks", T, std::int64_t, std::uint64_t) {
  for (const T x : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) {
    const std::vector<T> two(2, x);
    for (const operation what : {operation::mean, operation::variance}) {
      const fanin::array_view view{std::span<const T>(two)};
      std::vector<std::int64_t> lanes = message_of_rank(what, view).all;
      for (std::int64_t& lane : lanes) lane <<= 21;
      double value = 0;
      fanin::from_lanes(what, fanin::type_of<T>, lanes, value);
      CHECK(value == (what == operation::mean ? static_cast<double>(x) : 0));
    }
  }
}

TEST_SUITE_END();
