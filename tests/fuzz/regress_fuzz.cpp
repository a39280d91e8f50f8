// SPDX-License-Identifier: Apache-2.0
// Any outputs of two or three programs, builds of fanin or other benchmarks, apart by NUL, as `fanin regress` reads
// them: bad_data, or finite times above 0 and verdicts whose text has no control characters and whose JSON a report
// can draw.
#include <algorithm>
#include <cmath>
#include <set>

#include "cli/kit/errors.hpp"
#include "cli/regress/pairs.hpp"
#include "cli/report/results.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace fanin::cli;
using namespace fanin::fuzz;

namespace {

void expect_finite(const measured& one) {
  expect(one.names.size() == one.values.size() + one.problems.size(), "a case has either a time or a problem");
  expect(std::set(one.names.begin(), one.names.end()).size() == one.names.size(), "a name stands there once");
  for (const auto& [name, found] : one.values) {
    expect(found.contains(quantity::wall_time), "a case has a wall time");
    for (const auto& [what, amount] : found) expect(std::isfinite(amount) && amount > 0, "a time is above 0");
  }
}

void expect_told(const regress_result& all) {
  const std::string text = as_text(all);
  expect(std::ranges::none_of(text, [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; }),
         "the text has no control characters");
  const auto says_nan = [](const std::string& words) { return words.find("nan") != words.npos; };
  const bool said =
      std::ranges::any_of(all.cases, says_nan, &regress_case::name) ||
      std::ranges::any_of(all.left_out, [&](const auto& one) { return says_nan(one.first) || says_nan(one.second); });
  expect(said || text.find("nan") == text.npos, "every number is one");
  const json again = json::parse(printed(as_json(all)));
  const charts::comparison drawn = charts::read_comparison(again);
  expect(drawn.cases.size() == all.cases.size(), "a report draws every case");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, size);
  const std::size_t kind = in.choice(4), sides_wanted = 2 + kind % 2, pairs = 1 + in.choice(16);
  const auto read = kind < 2 ? read_fanin_result : read_benchmark_result;
  std::vector<measured> sides;
  regress_result all{.a = "a", .b = "b", .threshold = 0.03, .cases = {}, .left_out = {}};
  try {
    while (sides.size() < sides_wanted) {
      sides.push_back(read("fuzz", std::string(in.text_until('\0'))));
      expect_finite(sides.back());
    }
    for (std::size_t i = 0; i < pairs; ++i) add_pair(all, sides);
  } catch (const bad_data&) {
    return 0;
  }
  expect(!all.cases.empty(), "what is compared has cases");
  for (const regress_case& one : all.cases) {
    expect(one.wall().a.size() == pairs && one.wall().b.size() == pairs, "a case has both times of every pair");
  }
  judge_cases(all);
  expect_told(all);
  regress_result from_files{.a = "a", .b = "b", .threshold = 0.03, .from_files = true, .cases = {}, .left_out = {}};
  add_pair(from_files, std::span(sides).first(2));
  judge_files(from_files);
  expect_told(from_files);
  return 0;
}
