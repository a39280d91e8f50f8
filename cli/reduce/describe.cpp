// SPDX-License-Identifier: Apache-2.0
// fanin describe: what there is in each column of an input, in one pass.
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/pass.hpp"

namespace fanin::cli {

namespace {

constexpr operation described_by[] = {operation::minmax, operation::sum, operation::mean,
                                      operation::standard_deviation};

struct describe_options {
  input_options input;
  std::string backend;
  unsigned threads = 0;
  bool json = false;
};

// The results of a column, in the order of `described_by`.
using column_results = std::span<const finished_reduction>;

constexpr std::string_view named_numbers[] = {"min", "max", "sum", "mean", "standard_deviation"};

// The named numbers as text.
table_row numbers_of(column_results column) {
  table_row numbers;
  for (const finished_reduction& done : column) {
    for (const std::string& number : split(value_of(done), ' ')) numbers.push_back(number);
  }
  return numbers;
}

json to_json(column_results column) {
  const finished_reduction& first = column.front();
  const std::uint64_t nan = first.reached.report.absent;
  json all = described(json{{"input", first.input()}});
  if (!first.column.empty()) all["column"] = first.column;
  all.update({{"element_type", to_string(first.inputs[0].type)}, {"count", first.count - nan}, {"nan", nan}});
  if (first.inputs[0].skips_missing) all["missing"] = first.missing;
  for (const finished_reduction& done : column) {
    const json value = json_value(done.reached.value);
    all.update(value.contains("value") ? json{{to_string(done.what), value.at("value")}} : value);
  }
  json& text = all["text"];
  const table_row numbers = numbers_of(column);
  for (std::size_t i = 0; i < numbers.size(); ++i) text[std::string(named_numbers[i])] = numbers[i];
  return all;
}

table_row row_of_table(column_results column) {
  const finished_reduction& first = column.front();
  const std::uint64_t nan = first.reached.report.absent;
  table_row row;
  if (!first.column.empty()) row.push_back(one_line(first.column));
  row.push_back(std::to_string(first.count - nan));
  row.push_back(std::to_string(nan));
  if (first.inputs[0].skips_missing) row.push_back(std::to_string(first.missing));
  for (const std::string& number : numbers_of(column)) row.push_back(number);
  return row;
}

void run_describe(describe_options arguments) {
  if (arguments.input.path.empty()) arguments.input.path = implied_input("describe");
  arguments.input.every_column = true;
  options chosen;
  chosen.backend = arguments.backend;
  chosen.threads = arguments.threads;
  chosen.nan = nan_policy::skip;
  source input(arguments.input);
  reduction_pass pass(described_by, input, chosen);
  pass.read(input, nullptr);
  const std::vector<finished_reduction> all = pass.finish();
  const column_results results(all);
  const bool named = !all.front().column.empty();
  table_row head = {"count", "nan"};
  if (named) head.insert(head.begin(), "column");
  if (input.skips_missing()) head.push_back("missing");
  head.insert(head.end(), std::begin(named_numbers), std::end(named_numbers));
  std::vector<table_row> rows = {head};
  json objects = json::array();
  for (std::size_t i = 0; i < all.size(); i += std::size(described_by)) {
    const column_results column = results.subspan(i, std::size(described_by));
    rows.push_back(row_of_table(column));
    objects.push_back(to_json(column));
  }
  write_stdout(arguments.json ? printed(named ? objects : objects[0]) : align(rows, named ? 1 : 0));
}

}  // namespace

command add_describe(CLI::App& root) {
  auto arguments = std::make_shared<describe_options>();
  CLI::App* parser = root.add_subcommand("describe", "Count, extremes, sum, mean and deviation of each column");
  add_input_options(*parser, arguments->input, false);
  parser->add_option("--backend", arguments->backend, "a name (that one or an error), a list 'tbb,serial', or auto")
      ->type_name("NAMES");
  add_threads_option(*parser, arguments->threads);
  parser->add_flag("--json", arguments->json, "print a JSON object, or of csv without --column an array of them");
  parser->footer(
      "Prints a line for each column of csv, or for the input: how many numbers there are and how many NaN, and of\n"
      "the numbers the smallest, the largest, the sum, the mean and the population standard deviation, each "
      "correctly\n"
      "rounded. The input is read once. Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin describe prices.csv --header\n"
      "  fanin describe prices.csv --column price,amount --missing skip\n"
      "  fanin describe data.npy --json");
  return {parser, [arguments] { run_describe(*arguments); }};
}

}  // namespace fanin::cli
