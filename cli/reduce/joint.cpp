// SPDX-License-Identifier: Apache-2.0
// fanin reduce: several operations in one pass.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/batch/batch.hpp"
#include "cli/batch/by.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/joint.hpp"
#include "cli/reduce/loaded.hpp"
#include "cli/reduce/pass.hpp"

namespace fanin::cli {

namespace {

// Elements are divided among devices as a whole, and so each operation reads them again.
std::vector<finished_reduction> reduce_jointly(std::span<const statistic> statistics,
                                               std::span<const input_options> inputs, const options& chosen) {
  std::optional<source> input(inputs[0]);
  if (!chosen.devices.empty() && inputs.size() == 1) return reduce_columns(statistics, *input, chosen, nullptr);
  reduction_pass pass(statistics, *input, chosen);
  pass.read(*input, nullptr);
  for (const input_options& other : inputs.subspan(1)) {
    input.emplace(other);
    pass.read(*input, nullptr);
  }
  return pass.finish();
}

std::vector<input_options> inputs_of(const joint_options& arguments, std::span<const statistic> statistics) {
  std::vector<input_options> inputs(arguments.files.size(), arguments.input);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].path = arguments.files[i];
    inputs[i].can_skip = std::ranges::all_of(statistics, can_skip_missing) && arguments.many.takes_missing();
    inputs[i].keep_lines = std::ranges::any_of(statistics, has_index);
    if (!arguments.many.given()) inputs[i].columns = default_columns::every;
  }
  return inputs;
}

// @throws usage_error if options contradict each other
void check_options(const joint_options& arguments) {
  const batch_options& many = arguments.many;
  many.check_output();
  if (arguments.force && many.output.empty()) throw usage_error("--force requires --output, whose file it replaces");
  if (std::ranges::count(arguments.files, "-") > 1) throw usage_error("standard input is named twice");
  if (!many.given() || !many.by.empty()) return;
  if (arguments.together) {
    throw usage_error(
        fmt::format("--together is for one result, but {} asks for many; leave one of them out", many.name()));
  }
  if (arguments.files.size() > 1) throw usage_error(fmt::format("{} takes one file", many.name()));
}

/// The label that is printed in front of a value.
std::string value_label(const statistic& what, line_label label) {
  if (label == line_label::none) return {};
  return (label == line_label::name ? what.name : what.share->text) + " ";
}

}  // namespace

void add_joint_options(CLI::App& parser, joint_options& arguments) {
  parser.add_option("FILE", arguments.files, "input files, each with a result of its own; - is standard input")
      ->type_name("");
  add_reading_options(parser, arguments.input);
  parser.add_flag("--together", arguments.together, "one result for all files, as if they were one file");
  add_batch_options(parser, arguments.many);
  parser.add_flag("--force", arguments.force, "replace the output file if it exists");
}

void run_joint_reduction(std::string_view subcommand, const std::vector<statistic>& statistics, line_label label,
                         joint_options arguments) {
  for (const statistic& what : statistics) check_missing(what, arguments.input);
  if (arguments.files.empty()) arguments.files.push_back(implied_input(subcommand));
  check_options(arguments);
  const std::vector<input_options> inputs = inputs_of(arguments, statistics);
  const bool joint = label != line_label::none;
  const options chosen = arguments.how.checked();
  if (!arguments.many.by.empty()) {
    return run_by({.statistics = statistics,
                   .joint = joint,
                   .inputs = inputs,
                   .together = arguments.together,
                   .many = arguments.many,
                   .chosen = chosen,
                   .force = arguments.force,
                   .explain = arguments.explain,
                   .json = arguments.json});
  }
  if (arguments.many.given()) {
    return run_batch({.statistics = statistics,
                      .joint = joint,
                      .inputs = inputs,
                      .many = arguments.many,
                      .chosen = chosen,
                      .force = arguments.force,
                      .explain = arguments.explain,
                      .json = arguments.json});
  }
  for (const statistic& what : statistics) {
    if (row_of(what.like).inputs > 1)
      throw usage_error(fmt::format("{0} reads two inputs; 'fanin {0} FILE OTHER' computes it", what.name));
  }
  const bool apart = inputs.size() > 1 && !arguments.together;
  std::vector<finished_reduction> all;
  for (std::size_t i = 0; i < (apart ? inputs.size() : 1); ++i) {
    const std::span<const input_options> part(inputs.data() + i, apart ? 1 : inputs.size());
    std::ranges::move(reduce_jointly(statistics, part, chosen), std::back_inserter(all));
  }
  warn_of_rounding(all);
  std::string text;
  json rows = json::array();
  for (const finished_reduction& done : all) {
    if (arguments.explain) explain(done);
    text += value_label(done.what, label) + line_of(done, apart);
    rows.push_back(to_json(done));
  }
  const bool one_row = !joint && !apart && all.front().column.empty();
  write_results(all, arguments.json ? printed(one_row ? rows[0] : rows) : text);
}

command add_joint_reduction(CLI::App& root) {
  auto arguments = std::make_shared<joint_options>();
  auto operations = std::make_shared<std::string>();
  CLI::App* parser = root.add_subcommand("reduce", "Several operations in one call");
  parser
      ->add_option("OPERATION", *operations,
                   "operations of one input, count, median or quantile:0.9, separated by commas")
      ->required();
  add_joint_options(*parser, *arguments);
  add_run_options(*parser, arguments->how);
  add_explain_option(*parser, arguments->explain);
  parser->add_flag("--json", arguments->json, "print an array with a JSON object for each operation on each column");
  add_by_options(*parser, arguments->many);
  parser->footer(
      "What a line of the output has:\n"
      "  --axis, --segments, --keys  one result: the value of each operation, with blanks between the values\n"
      "  --by                        one group: the fields of its key, then for each column the value of each "
      "operation\n"
      "  without these options       one operation and its value; for several columns two blanks and the column "
      "follow\n"
      "With --by a first line names the fields, if the table has a header or --csv is given.\n\n"
      "The default method is exact. Without --column every column of numbers of csv is reduced.\n"
      "If a total of integers does not fit in 64 bits, \"overflow\" stands in its place. The other values are "
      "printed, "
      "and\nthe exit status is 1.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin reduce min,mean,max prices.csv --column price\n"
      "  fanin reduce count,sum,median,quantile:0.9 prices.csv\n"
      "  fanin reduce sum,mean day*.csv --together --column price,amount --by region,year --csv -o groups.csv\n"
      "  fanin reduce sum,mean,max cube.npy --axis 1\n"
      "  seq 1000 | fanin reduce sum,standard_deviation --json");
  return {parser, [arguments, operations] {
            std::vector<statistic> statistics;
            for (const std::string& word : split(*operations, ',')) statistics.push_back(parse_statistic(word));
            run_joint_reduction("reduce", statistics, line_label::name, *arguments);
          }};
}

}  // namespace fanin::cli
