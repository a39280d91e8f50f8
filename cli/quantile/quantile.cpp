// SPDX-License-Identifier: Apache-2.0
// fanin count, median and quantile: how many numbers there are, and which stand at given places when all are sorted.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/quantile/selection.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

struct statistic_options {
  std::string shares;  ///< separated by commas
  std::vector<std::string> files;
  input_options input;
  std::string nan;
  bool json = false;

  nan_policy policy() const {
    return nan.empty() ? nan_policy::propagate : parse_choice<nan_policy>("NaN policy", nan, all_nan_policies);
  }
};

/// What was found in a column.
struct found_column {
  element_type type;
  std::uint64_t count = 0, absent = 0;
  std::vector<scalar> values;
};
/// Reads an input, and gives what is found in each of its columns.
using read_columns = std::function<std::vector<found_column>(source&)>;

std::vector<found_column> count_columns(source& input, nan_policy nan) {
  std::vector<found_column> all(input.columns().size());
  progress line("count of " + input.name());
  for_each_block(input, [&](std::size_t i, const array_view& block) {
    all[i].count += block.count;
    line.add_bytes(block.bytes());
    if (nan != nan_policy::skip) return;
    with_element(block.type, [&]<class T>() {
      const std::span elements(static_cast<const T*>(block.data), block.count);
      all[i].absent += static_cast<std::uint64_t>(std::ranges::count_if(elements, [](T x) { return x != x; }));
    });
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].type = input.columns()[i].type;
    all[i].values = {all[i].count - all[i].absent};
  }
  return all;
}

std::vector<found_column> select_columns(source& input, std::string_view statistic,
                                         std::span<const exact_share> shares, nan_policy nan) {
  std::vector<found_column> all;
  const progress line(fmt::format("{} of {}", statistic, input.name()));
  for (std::size_t i = 0; i < input.columns().size(); ++i) {
    const array_view elements = input.load(i);
    if (!input.columns()[i].has_numbers) {
      all.push_back({});
      continue;
    }
    const found_quantiles found = with_input_name(place_text(input.name(), input.columns()[i].name),
                                                  [&] { return quantiles(elements, shares, nan); });
    all.push_back({elements.type, elements.count, found.absent, found.values});
  }
  return all;
}

/// Prints a line for each share of each column, or for each column without shares.
void run_statistic(const std::string& name, std::span<const exact_share> shares, const statistic_options& arguments,
                   const read_columns& read) {
  std::vector<std::string> files = arguments.files;
  if (files.empty()) files.push_back(implied_input(name));
  if (std::ranges::count(files, "-") > 1) throw usage_error("standard input is named twice");
  std::string text;
  json rows = json::array();
  bool one_row = files.size() == 1 && shares.size() < 2;
  for (const std::string& path : files) {
    input_options chosen = arguments.input;
    chosen.path = path;
    chosen.columns = default_columns::every;
    source input(chosen);
    const std::vector<found_column> columns = read(input);
    input.finish();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& [type, count, absent, values] = columns[i];
      const input_column& column = input.columns()[i];
      if (!column.has_numbers) continue;
      const rounded_numbers rounded = column.rounded_as(type);
      warn_of_rounding(place_text(input.name(), column.name), rounded, type);
      one_row = one_row && column.name.empty();
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (shares.size() > 1) text += shares[k].text + " ";
        text += value_text(values[k]);
        if (files.size() > 1) text += "  " + one_line(input.name());
        if (!column.name.empty()) text += "  " + one_line(column.name);
        text += '\n';
        json row = described(json{{"operation", name}, {"input", input.name()}});
        if (!shares.empty()) row["q"] = std::stod(shares[k].text);
        if (!column.name.empty()) row["column"] = column.name;
        row.update({{"element_type", to_string(type)}, {"count", count}, {"absent", absent}});
        if (input.skips_missing()) row["missing"] = column.missing;
        if (rounded.integers > 0) row["rounded_on_reading"] = rounded.integers;
        row.update(json_value(values[k]));
        row.update({{"value_text", value_text(values[k])}, {"value_hex", value_hex(values[k])}, {"method", "exact"}});
        rows.push_back(row);
      }
    }
  }
  write_stdout(arguments.json ? printed(one_row ? rows[0] : rows) : text);
}

void add_statistic_options(CLI::App& parser, statistic_options& arguments) {
  parser.add_option("FILE", arguments.files, "input files, each with a result of its own; - is standard input")
      ->type_name("");
  add_reading_options(parser, arguments.input);
  parser.add_option("--nan", arguments.nan, "skip leaves NaN out; with propagate (default) NaN take part")
      ->type_name("POLICY");
  parser.add_flag("--json", arguments.json, "print a JSON object; for several results an array of objects");
}

constexpr std::string_view memory_and_input =
    "All numbers are held in memory: 8 bytes for each number, and 8 more unless FILE is an .npy or raw file that is "
    "mapped.\n"
    "Nothing is sorted, so the time is proportional to the number of numbers.\n"
    "Without FILE, standard input is read if it is a pipe or a file.\n\n";

}  // namespace

command add_count(CLI::App& root) {
  auto arguments = std::make_shared<statistic_options>();
  CLI::App* parser = root.add_subcommand("count", "How many numbers there are");
  add_statistic_options(*parser, *arguments);
  parser->footer(
      "Counts all numbers, NaN too. --nan skip leaves NaN out. --missing skip leaves missing numbers out.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin count prices.csv --column price,amount --missing skip\n"
      "  fanin count data.npy --nan skip");
  return {parser, [arguments] {
            run_statistic("count", {}, *arguments,
                          [&](source& input) { return count_columns(input, arguments->policy()); });
          }};
}

command add_median(CLI::App& root) {
  auto arguments = std::make_shared<statistic_options>();
  CLI::App* parser = root.add_subcommand("median", "The number in the middle, correctly rounded");
  add_statistic_options(*parser, *arguments);
  parser->footer(
      "The median is the number in the middle of the sorted numbers. If their count is even, the median is the mean "
      "of "
      "the\ntwo numbers in the middle, rounded once. A NaN makes the median NaN, unless --nan skip leaves NaN "
      "out.\n" +
      std::string(memory_and_input) +
      "Examples:\n  fanin median prices.csv --column price,amount\n  fanin median data.npy --json");
  return {parser, [arguments] {
            const exact_share half[] = {parse_share("0.5")};
            run_statistic("median", {}, *arguments,
                          [&](source& input) { return select_columns(input, "median", half, arguments->policy()); });
          }};
}

command add_quantile(CLI::App& root) {
  auto arguments = std::make_shared<statistic_options>();
  CLI::App* parser =
      root.add_subcommand("quantile", "Quantiles, such as the number below which 95 % lie, correctly rounded");
  parser->add_option("Q", arguments->shares, "numbers from 0 to 1, separated by commas")->required()->type_name("");
  add_statistic_options(*parser, *arguments);
  parser->footer(
      "Let n numbers be sorted, with places from 0 to n - 1. The quantile Q is the number at the place Q (n - 1). "
      "Between\ntwo places it is interpolated linearly, as numpy.quantile does by default, and rounded once. Q is "
      "taken "
      "as it is\nwritten: 0.1 is exactly a tenth. A NaN makes every quantile NaN, unless --nan skip leaves NaN out.\n"
      "With several values of Q there is a line for each, which begins with Q.\n" +
      std::string(memory_and_input) +
      "Examples:\n  fanin quantile 0.9 data.npy\n  fanin quantile 0.05,0.5,0.95 prices.csv --column price");
  return {parser, [arguments] {
            std::vector<exact_share> shares;
            for (const std::string& one : split(arguments->shares, ',')) shares.push_back(parse_share(one));
            run_statistic("quantile", shares, *arguments, [&](source& input) {
              return select_columns(input, "quantile", shares, arguments->policy());
            });
          }};
}

}  // namespace fanin::cli
