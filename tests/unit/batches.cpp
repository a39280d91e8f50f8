// SPDX-License-Identifier: Apache-2.0
// Rows, segments and groups through the verbs, and calls that are refused.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/message_of.hpp"

namespace {

using fanin::element_type;
using fanin::invalid_argument;
using fanin::method;
using fanin::test::message_of;

const std::vector<double> x{1, 2, 3, 4, 5, 6};

}  // namespace

TEST_SUITE("unit/batches") {
  TEST_CASE("rows are along the named axis, and results in the order of the others") {
    std::vector<double> two(2), three(3);
    CHECK(fanin::sum(fanin::rows(x, {2, 3}, 1), two).backend == "serial");
    CHECK(two == std::vector<double>{6, 15});
    fanin::sum(fanin::rows(x, {2, 3}, 0), three);
    CHECK(three == std::vector<double>{5, 7, 9});
    fanin::max(fanin::rows(x, {2, 3}, -1), two);
    CHECK(two == std::vector<double>{3, 6});
    std::vector<fanin::indexed<double>> places(3);
    fanin::argmin(fanin::rows(x, {2, 3}, 0), places);
    CHECK(places[2] == fanin::indexed<double>{3, 0});
    fanin::dot(fanin::rows(x, x, {2, 3}, 1), two);
    CHECK(two == std::vector<double>{14, 77});
  }

  TEST_CASE("several axes and strides") {
    const std::size_t shape[] = {1, 2, 3};
    const int along[] = {0, 2};
    std::vector<double> two(2);
    fanin::sum(fanin::rows(std::span<const double>(x), shape, along), two);
    CHECK(two == std::vector<double>{6, 15});
    const fanin::batch joined =
        fanin::rows(std::span<const double>(x), std::array<std::size_t, 3>{2, 3, 1}, std::array{0, 1});
    CHECK(joined.kept == 0);
    CHECK(joined.reduced == 1);  // axes that act as one
    CHECK(joined.axes[0].count == 6);
    const std::size_t transposed[] = {3, 2};
    const std::ptrdiff_t strides[] = {1, 3};
    const int last[] = {1};
    std::vector<double> three(3);
    fanin::sum(fanin::rows(std::span<const double>(x), transposed, last, strides), three);
    CHECK(three == std::vector<double>{5, 7, 9});
  }

  TEST_CASE("segments, groups and masks") {
    std::vector<double> sums(3);
    fanin::sum(fanin::segments(x, std::vector<int>{0, 2, 2, 5}), sums);
    CHECK(sums == std::vector<double>{3, 0, 12});
    fanin::sum(fanin::groups(x, std::vector<long long>{2, 0, 2, 0, 2, 0}, 3), sums);
    CHECK(sums == std::vector<double>{12, 0, 9});
    const std::uint8_t mask[] = {1, 1, 0, 1, 0, 0};
    const auto report = fanin::sum(fanin::groups(fanin::where(x, mask), std::vector<int>{2, 0, 2, 0, 2, 0}, 3), sums);
    CHECK(sums == std::vector<double>{6, 0, 1});
    CHECK(report.absent == 3);
  }

  TEST_CASE("a plan takes batches of the layout that it was made for") {
    std::vector<double> two(2);
    const fanin::plan planned(fanin::operation::sum, element_type::f64, {.method = method::exact},
                              fanin::plan::unknown_count, fanin::memory::host, fanin::layout::rows);
    CHECK(planned(fanin::rows(x, {2, 3}, 1), two).method == method::exact);
    CHECK(two == std::vector<double>{6, 15});
    CHECK_THROWS_AS(planned(fanin::segments(x, std::vector<int>{0, 2, 6}), two), invalid_argument);
    CHECK_THROWS_AS(planned(fanin::rows(std::vector<float>(6), {2, 3}, 1), two), invalid_argument);
    const fanin::plan of_arrays(fanin::operation::sum, element_type::f64);
    CHECK_THROWS_AS(of_arrays(fanin::rows(x, {2, 3}, 1), two), invalid_argument);
  }

  TEST_CASE("results of no elements") {
    const std::vector<int> offsets{0, 0, 6};
    std::vector<double> means(2);
    fanin::mean(fanin::segments(x, offsets), means);
    CHECK(std::isnan(means[0]));
    CHECK(means[1] == 3.5);
    fanin::mean(fanin::segments(x, offsets).if_empty(-1.0), means);
    CHECK(means[0] == -1);
    std::vector<fanin::indexed<double>> places(2);
    CHECK(message_of<invalid_argument>([&] { fanin::argmax(fanin::segments(x, offsets), places); }) ==
          "segment 0: too few elements for argmax");
    fanin::argmax(fanin::segments(x, offsets).if_empty(fanin::indexed<double>{0, 99}), places);
    CHECK(places[0].index == 99);
    CHECK(places[1] == fanin::indexed<double>{6, 5});
    fanin::argmax(fanin::groups(x, std::vector<int>(6, 1), 2).if_empty(fanin::indexed<double>{0, 99}), places);
    CHECK(places[0].index == 99);
    CHECK_THROWS_AS(fanin::mean(fanin::segments(x, offsets).if_empty(-1), means), invalid_argument);
  }

  TEST_CASE("keys of no group are an error, or dropped and counted") {
    const std::vector<int> keys{0, 1, -1, 7, 1, 0};
    std::vector<double> sums(2);
    CHECK(message_of<invalid_argument>([&] { fanin::sum(fanin::groups(x, keys, 2), sums); }) ==
          "key 2 is -1, and the last group is 1");
    CHECK(fanin::sum(fanin::groups(x, keys, 2).drop_others(), sums).absent == 2);
    CHECK(sums == std::vector<double>{7, 7});
    const std::uint8_t mask[] = {1, 1, 0, 0, 1, 0};  // The keys of elements that are left out are checked as well.
    const auto kept = fanin::where(x, mask);
    CHECK(message_of<invalid_argument>([&] { fanin::sum(fanin::groups(kept, keys, 2), sums); }) ==
          "key 2 is -1, and the last group is 1");
    CHECK(fanin::sum(fanin::groups(kept, keys, 2).drop_others(), sums).absent == 3);
    CHECK(sums == std::vector<double>{1, 7});
  }

  TEST_CASE("an overflow names its result") {
    const std::vector<std::int64_t> large(4, std::numeric_limits<std::int64_t>::max());
    std::vector<std::int64_t> sums(3);
    const std::string told = message_of<fanin::overflow>([&] {
      fanin::sum(fanin::segments(large, std::vector<int>{0, 1, 3, 4}), sums);
    });
    CHECK(told.starts_with("segment 1: "));
    CHECK(sums[0] == large[0]);
    CHECK(sums[2] == large[0]);
    std::vector<std::int64_t> columns{1, large[0], 1, 2, 0, 2};
    const std::string of_column = message_of<fanin::overflow>([&] {
      fanin::sum(fanin::rows(columns, {2, 3}, 0), sums);
    });
    CHECK(of_column == "no error");
    columns[4] = 1;
    CHECK(message_of<fanin::overflow>([&] {
            fanin::sum(fanin::rows(columns, {2, 3}, 0), sums);
          }).substr(0, 10) == "result 1: ");
    CHECK(sums[2] == 3);
  }

  TEST_CASE("threads find the first wrong one of many offsets") {
    std::vector<std::uint64_t> offsets(std::size_t{1} << 19);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i;
    const std::vector<std::uint8_t> elements(offsets.size());
    std::vector<std::uint64_t> sums(offsets.size() - 1);
    const auto sum = [&] { fanin::sum(fanin::segments(elements, offsets), sums, {.threads = 2}); };
    sum();
    for (const std::size_t wrong : {offsets.size() - 1, offsets.size() / 2, std::size_t{2}}) {
      offsets[wrong] = 0;
      CHECK(message_of<invalid_argument>(sum).starts_with("offset " + std::to_string(wrong) + " is 0: "));
    }
  }
  TEST_CASE("what does not fit is refused") {
    std::vector<double> two(2);
    std::vector<float> floats(2);
    CHECK_THROWS_AS(static_cast<void>(fanin::rows(x, {2, 2}, 1)), invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(fanin::rows(x, {2, 3}, 2)), invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(fanin::segments(x, std::vector<int>{})), invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(fanin::groups(x, std::vector<int>{1, 2}, 3)), invalid_argument);
    CHECK_THROWS_AS(fanin::sum(fanin::rows(x, {3, 2}, 1), two), invalid_argument);
    CHECK_THROWS_AS(fanin::sum(fanin::rows(x, {2, 3}, 1), floats), fanin::unsupported);
    CHECK_THROWS_AS(fanin::dot(fanin::rows(x, {2, 3}, 1), two), invalid_argument);
    CHECK(message_of<invalid_argument>([&] {
            fanin::sum(fanin::segments(x, std::vector<int>{0, 4, 3}), two);
          }) == "offset 2 is 3: offsets ascend from 0 to at most 6, the number of elements");
    CHECK_THROWS_AS(fanin::sum(fanin::segments(x, std::vector<int>{0, 4, 7}), two), invalid_argument);
    CHECK_THROWS_AS(fanin::sum(fanin::segments(x, std::vector<int>{-1, 4, 6}), two), invalid_argument);
    CHECK_THROWS_AS(fanin::sum(fanin::rows(x, {2, 3}, 1), two, {.variant = "kahan"}), fanin::unsupported);
    const std::vector<std::size_t> many(33, 1);
    const int first[] = {0};
    CHECK_THROWS_AS(static_cast<void>(fanin::rows(std::span<const double>(x.data(), 1), many, first)),
                    invalid_argument);
  }

  TEST_CASE("exact results of groups do not depend on the order of the elements") {
    const std::vector<double> a{1e100, 1, -1e100, 3}, b{3, -1e100, 1, 1e100};
    const std::vector<int> keys{1, 1, 1, 0}, reversed{0, 1, 1, 1};
    std::vector<double> sums(2), others(2);
    fanin::sum(fanin::groups(a, keys, 2), sums, {.method = method::exact});
    fanin::sum(fanin::groups(b, reversed, 2), others, {.method = method::exact});
    CHECK(sums == std::vector<double>{3, 1});
    CHECK(others == sums);
  }

  TEST_CASE("results are added to, and those without elements keep their bits") {
    std::vector<double> sums{10, -0.0, 30};
    const auto report = fanin::add_to(fanin::segments(x, std::vector<int>{0, 2, 2, 6}), sums);
    CHECK(sums == std::vector<double>{13, 0, 48});
    CHECK(std::signbit(sums[1]));
    CHECK(report.bound.of_result > 0);
    std::vector<double> products{2, 0.5};
    fanin::add_to(fanin::operation::product, fanin::rows(x, {2, 3}, 1), products);
    CHECK(products == std::vector<double>{12, 60});
    std::vector<double> most{4, 2, 9};
    fanin::add_to(fanin::operation::max, fanin::groups(x, std::vector<int>{0, 1, 2, 0, 1, 0}, 3), most);
    CHECK(most == std::vector<double>{6, 5, 9});
    const std::uint8_t mask[] = {0, 0, 0, 1, 1, 1};
    std::vector<double> two{-0.0, 1};
    CHECK(fanin::add_to(fanin::rows(fanin::where(x, mask), {2, 3}, 1), two).absent == 3);
    CHECK(std::signbit(two[0]));
    CHECK(two[1] == 16);
    fanin::add_to(fanin::operation::min, fanin::rows(fanin::where(x, mask), {2, 3}, 1), two);
    CHECK(std::signbit(two[0]));
    CHECK(two[1] == 4);
    constexpr std::uint64_t nan_with_payload = 0x7ff8000000001234;
    std::vector<double> nothing_added{std::bit_cast<double>(nan_with_payload)};
    fanin::add_to(fanin::segments(x, std::vector<int>{3, 3}), nothing_added, {.method = method::exact});
    CHECK(std::bit_cast<std::uint64_t>(nothing_added[0]) == nan_with_payload);
    std::vector<double> all_minus_zero{-0.0};
    fanin::add_to(fanin::rows(std::vector<double>{-0.0}, {1, 1}, 1), all_minus_zero, {.method = method::exact});
    CHECK(std::signbit(all_minus_zero[0]));
  }

  TEST_CASE("an exact addition rounds once") {
    const std::vector<double> terms{1, 0x1p-53, 0x1p-53};
    const std::vector<int> keys{0, 0, 0};
    std::vector<double> sum{0x1p53};
    fanin::add_to(fanin::groups(terms, keys, 1), sum, {.method = method::exact});
    CHECK(sum[0] == 0x1p53 + 2);  // 2^53 + 1 + 2^-52 lies above the middle
    fanin::add_to(fanin::groups(std::vector<double>{1}, std::vector<int>{0}, 1), sum, {.method = method::exact});
    CHECK(sum[0] == 0x1p53 + 4);  // a tie, to even: each call rounds

    const std::vector<float> singles{1, 0x1p-60f};
    std::vector<double> wide{0x1p53};
    fanin::add_to(fanin::rows(singles, {1, 2}, 1), wide, {.method = method::exact});
    CHECK(wide[0] == 0x1p53 + 2);
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (const auto& [x, y, sum_of_both] : {std::tuple{inf, -1.0, double{inf}},
                                            {inf, -double{inf}, std::nan("")},
                                            {-0.0f, -0.0, -0.0},
                                            {-0.0f, 0.0, 0.0},
                                            {1.0f, -1.0, 0.0}}) {
      wide[0] = y;
      fanin::add_to(fanin::rows(std::vector<float>{x}, {1, 1}, 1), wide, {.method = method::exact});
      CHECK(std::isnan(wide[0]) == std::isnan(sum_of_both));
      if (!std::isnan(sum_of_both)) CHECK(wide[0] == sum_of_both);
      CHECK(std::signbit(wide[0]) == std::signbit(sum_of_both));
    }
  }

  TEST_CASE("integers are added to exactly, and an overflow leaves its result") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::vector<std::int64_t> large{most, most, 1, 1, 5};
    std::vector<std::int64_t> sums{-most, most, 7};
    CHECK(message_of<fanin::overflow>([&] {
            fanin::add_to(fanin::groups(large, std::vector<int>{0, 0, 1, 1, 2}, 3), sums);
          }).starts_with("group 1: "));
    CHECK(sums == std::vector<std::int64_t>{most, most, 12});
  }

  TEST_CASE("a plan adds to results, of the batches that were planned") {
    const auto planned = fanin::plan::of_add_to(fanin::operation::sum, element_type::f64, fanin::layout::rows);
    std::vector<double> two{1, 2};
    planned(fanin::rows(x, {2, 3}, 1), two);
    planned(fanin::rows(x, {3, 2}, 0), two);
    CHECK(two == std::vector<double>{16, 29});
    CHECK_THROWS_AS(planned(fanin::rows(x, {2, 3}, 1).if_empty(0.0), two), invalid_argument);
    CHECK_THROWS_AS(planned(fanin::segments(x, std::vector<int>{0, 2, 6}), two), invalid_argument);
    CHECK_THROWS_AS(planned(std::span<const double>(x)), invalid_argument);
    CHECK(two == std::vector<double>{16, 29});
    const auto made = [](fanin::operation what, fanin::layout kind) {
      fanin::plan::of_add_to(what, element_type::f64, kind);
    };
    CHECK_THROWS_AS(made(fanin::operation::mean, fanin::layout::rows), fanin::unsupported);
    CHECK_THROWS_AS(made(fanin::operation::sum, fanin::layout::array), invalid_argument);
  }

  TEST_CASE("what add_to refuses changes nothing") {
    std::vector<double> two{1, 2};
    CHECK(message_of<fanin::unsupported>([&] {
            fanin::add_to(fanin::operation::mean, fanin::rows(x, {2, 3}, 1), two);
          }).substr(0, 55) == "add_to takes sum, product, min and max, not mean: merge");
    CHECK_THROWS_AS(fanin::add_to(fanin::rows(x, {2, 3}, 1).if_empty(0.0), two), invalid_argument);
    CHECK_THROWS_AS(fanin::add_to(fanin::rows(x, {3, 2}, 1), two), invalid_argument);
    CHECK_THROWS_AS(fanin::add_to(fanin::groups(x, std::vector<int>{0, 1, 0, 1, 0, 2}, 2), two), invalid_argument);
    CHECK_THROWS_AS(fanin::add_to(fanin::segments(x, std::vector<int>{0, 4, 3}), two), invalid_argument);
    CHECK_THROWS_AS(fanin::add_to(fanin::rows(x, {2, 3}, 1), two, {.variant = "kahan"}), fanin::unsupported);
    CHECK(two == std::vector<double>{1, 2});
    CHECK(fanin::add_to(fanin::groups(x, std::vector<int>{0, 1, 0, 1, 0, 2}, 2).drop_others(), two).absent == 1);
    CHECK(two == std::vector<double>{10, 8});
  }
}
