// SPDX-License-Identifier: Apache-2.0
// Tests of the names of enumerators, and of suggestions for unknown names.
#include <doctest/doctest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include <fanin/result.hpp>

#include "base/words.hpp"

namespace {

template <class Enums>
void check_names(const Enums& values) {
  std::set<std::string_view> names;
  for (const auto value : values) names.insert(fanin::to_string(value));
  CHECK(names.size() == std::size(values));
  CHECK(names.count("") == 0);
}

}  // namespace

TEST_SUITE("unit/names") {
  TEST_CASE("every enumerator has a word of its own") {
    using fanin::reason;
    using fanin::reproducibility;
    check_names(fanin::all_operations);
    check_names(fanin::all_element_types);
    check_names(fanin::all_methods);
    check_names(std::array{fanin::memory::host, fanin::memory::device});
    check_names(std::array{reproducibility::exact, reproducibility::fixed_order, reproducibility::run_to_run,
                           reproducibility::none});
    check_names(std::array{reason::usable, reason::not_compiled, reason::no_driver, reason::no_device,
                           reason::too_old, reason::unsupported, reason::wrong_memory});
    CHECK(fanin::to_string(fanin::operation::sum_of_squares) == "sum_of_squares");
    CHECK(fanin::to_string(fanin::element_type::u64) == "u64");
    CHECK(fanin::to_string(fanin::method::compensated) == "compensated");
    CHECK(fanin::to_string(reason::wrong_memory) == "wrong_memory");
    CHECK(fanin::to_string(reproducibility::run_to_run) == "run_to_run");
    CHECK(fanin::to_string(static_cast<fanin::operation>(200)) == "unknown");
    CHECK(fanin::to_string(static_cast<fanin::operation>(fanin::operation_count)) == "unknown");
    CHECK(fanin::to_string(static_cast<fanin::element_type>(200)) == "unknown");
  }

  TEST_CASE("a word is suggested, and all are listed") {
    const std::string all = " there are sum, product, min, max, mean", only_all = ";" + all;
    constexpr std::string_view known[] = {"sum", "product", "min", "max", "mean"};
    const auto suggested = [&](std::string_view word) { return fanin::detail::suggestion(word, known); };
    CHECK(suggested("prodcut") == "; did you mean 'product'?" + all);
    CHECK(suggested("sun") == "; did you mean 'sum'?" + all);
    CHECK(suggested("summ") == "; did you mean 'sum'?" + all);
    CHECK(suggested("mea") == "; did you mean 'mean'?" + all);
    CHECK(suggested("median") == "; did you mean 'mean'?" + all);
    CHECK(suggested("quantile") == only_all);
    CHECK(suggested("xyz") == only_all);
    CHECK(suggested("") == only_all);
    CHECK(fanin::detail::suggestion("sum", {}) == "");
    CHECK(suggested("amx") ==
          "; did you mean 'max'?" + all);  // A swap is one edit, and a word of three has room for one.
    CHECK(suggested("xyzn") == only_all);  // A word of four has room for two edits.
    constexpr std::string_view options[] = {"--by", "--nan", "--column"};
    CHECK(suggested("SUM") == "; did you mean 'sum'?" + all);
    CHECK(fanin::detail::suggestion("--usecols", options).starts_with("; did you mean '--column'?"));
    CHECK(fanin::detail::suggestion("--q", options) == "; there are --by, --nan, --column");
    CHECK(fanin::detail::suggestion("--colum", options).starts_with("; did you mean '--column'?"));
    CHECK(fanin::detail::suggestion("-column", options).starts_with("; did you mean '--column'?"));
    constexpr std::string_view alike[] = {"sum1", "sum2", "sum1"};
    CHECK(fanin::detail::suggestion("sum", alike) == "; did you mean 'sum1'? there are sum1, sum2");
    std::vector<std::string> many = {"sum"};
    for (char c = 'a'; c <= 'p'; ++c) many.emplace_back(4, c);
    const std::vector<std::string_view> views(many.begin(), many.end());
    CHECK(fanin::detail::suggestion("sumo", views) == "; did you mean 'sum'?");
    CHECK(fanin::detail::suggestion("quantile", views).ends_with(", nnnn, oooo, pppp"));
  }

  TEST_CASE("printable text is ASCII without control characters, up to 60 bytes of it") {
    CHECK(fanin::detail::printable("a ~") == "a ~");
    CHECK(fanin::detail::printable("\x1f\x7f\xe4") == "\\x1f\\x7f\\xe4");
    CHECK(fanin::detail::printable(std::string(60, 'x')) == std::string(60, 'x'));
    CHECK(fanin::detail::printable(std::string(61, 'x')) == std::string(60, 'x') + "...");
  }
}
