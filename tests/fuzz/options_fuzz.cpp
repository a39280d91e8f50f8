// SPDX-License-Identifier: Apache-2.0
// Any words as a command line with the options that the subcommands share, and as names for the library: the words
// give a reader's options and a valid selection of a backend, or the documented error in one line of text.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fanin/accumulator/int128.hpp>
#include <fanin/backend.hpp>
#include <fanin/error.hpp>

#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/options.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace fanin;
using namespace fanin::cli;
using namespace fanin::fuzz;

namespace {

using wide = fanin::detail::uint128;

/// A whole number as "1000", "1e3" or "10^3", by arithmetic that stops at 2^64; nothing if it is not written so.
std::optional<wide> number_in(std::string_view text) {
  const wide enough = wide{1} << 64;
  const auto digits = [enough](std::string_view part) -> std::optional<wide> {
    if (part.empty()) return std::nullopt;
    wide value = 0;
    for (const char c : part) {
      if (c < '0' || c > '9') return std::nullopt;
      value = std::min<wide>(value * 10 + static_cast<unsigned>(c - '0'), enough);
    }
    return value;
  };
  const std::size_t sign = text.find_first_of("eE^");
  const auto front = digits(text.substr(0, sign));
  if (sign == text.npos || !front) return front;
  const auto exponent = digits(text.substr(sign + 1));
  if (!exponent) return std::nullopt;
  if (*front == enough) return enough;  // A base beyond 64 bits is too large, whatever its exponent.
  const bool power = text[sign] == '^';
  wide value = power ? 1 : *front;
  const wide base = power ? *front : 10;
  for (wide i = 0; i < std::min<wide>(*exponent, 65); ++i)
    value = base != 0 && value > enough / base ? enough : value * base;
  return value;
}

template <class Number>
void expect_number(const std::string& text, std::uint64_t least) {
  const auto wanted = number_in(text);
  const bool fits = wanted && *wanted >= least && *wanted <= std::numeric_limits<Number>::max();
  try {
    expect(parse_number<Number>("--count", least, text) == wanted && fits, "a number is what its digits say");
  } catch (const usage_error&) {
    expect(!fits, "a number that fits is taken");
  }
}

/// The command prints the message of an error, so the message has to be one line.
void expect_message(const std::exception& problem) {
  const std::string_view text = problem.what();
  expect(!text.empty() && one_line(text) == text, "a message is one line without control characters");
}

void expect_selection(const options& chosen, std::string_view wanted, operation what, element_type type,
                      std::size_t count) {
  const array_view x(nullptr, count, type);
  const input_views inputs = row_of(what).inputs == 2 ? input_views(x, x) : input_views(x);
  try {
    const selection found = select(backends(), wanted, what, inputs, chosen);
    expect(found.chosen != nullptr && found.chosen->probe().usable(), "a usable backend is chosen");
    expect(is_offered(what, type, found.what.method), "the catalogue has what is chosen");
    expect(is_result(what, type, found.what.method, found.what.result), "the catalogue has the result");
    expect(!chosen.method || *chosen.method == found.what.method, "the method is the one asked for");
    const auto known = found.chosen->variants();
    const auto same = [&](const variant_info& v) {
      return v.name == found.what.variant && v.method == found.what.method;
    };
    expect(std::ranges::any_of(known, same), "the variant is one of the backend's");
    expect(chosen.variant.empty() || chosen.variant == found.what.variant, "the variant is the one asked for");
    expect(found.what.threads > 0, "there is a thread");
    const bool single = !wanted.empty() && wanted != "auto" && wanted.find(',') == wanted.npos;
    expect(!single || found.chosen->name() == wanted, "one name is that backend");
  } catch (const invalid_argument& problem) {
    expect_message(problem);
  } catch (const unsupported& problem) {
    expect_message(problem);
  } catch (const backend_unavailable& problem) {
    expect_message(problem);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  input_bytes in(data, size);
  const operation what = all_operations[in.choice(all_operations.size())];
  const element_type type = all_element_types[in.choice(all_element_types.size())];
  const std::size_t count = std::size_t{1} << in.choice(30);
  const std::uint64_t least = in.choice(4);
  std::vector<std::string> words;
  while (!in.bytes().empty() && words.size() < 32) words.emplace_back(in.text_until('\n'));
  for (const std::string& word : words) {
    expect_number<unsigned>(word, least);
    expect_number<std::uint64_t>(word, least);
  }

  CLI::App parser("fuzz", "fuzz");
  input_options input;
  run_options how;
  std::optional<std::uint64_t> pairs;
  double seconds = 1;
  add_input_options(parser, input, false);
  add_run_options(parser, how);
  add_number_option(parser, "--pairs", 8, pairs, "a number that need not be given");
  add_budget_option(parser, 1, [&](double value) { seconds = value; });
  parser.allow_extras();
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes the words from the end.
    parser.parse(words);
    expect(std::isfinite(seconds) && seconds > 0, "seconds are a number above 0");
    expect(!pairs || *pairs >= 8, "a number is at least the least");
    expect_selection(how.checked(), how.backend, what, type, count);
  } catch (const CLI::ParseError& problem) {
    expect(problem.get_exit_code() == 0 || *problem.what() != '\0', "an error says what is wrong");
  } catch (const usage_error& problem) {
    expect_message(problem);
  }
  return 0;
}
