// SPDX-License-Identifier: Apache-2.0
// fanin reduce: several operations in one pass.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/batch/batch.hpp"
#include "cli/batch/by.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/loaded.hpp"
#include "cli/reduce/pass.hpp"

namespace fanin::cli {

namespace {

struct joint_options {
  std::string operations;  ///< separated by commas
  std::vector<std::string> files;
  input_options input;    ///< how the files are read
  bool together = false;  ///< one result of all files
  batch_options many;
  run_options how;
  bool force = false;  ///< replace the file of the results
  bool explain = false, json = false;
};

// Elements are divided among devices as a whole, and so each operation reads them again.
std::vector<finished_reduction> reduce_jointly(std::span<const operation> operations,
                                               std::span<const input_options> inputs, const options& chosen) {
  std::optional<source> input(inputs[0]);
  if (!chosen.devices.empty() && inputs.size() == 1) return reduce_columns(operations, *input, chosen, nullptr);
  reduction_pass pass(operations, *input, chosen);
  pass.read(*input, nullptr);
  for (const input_options& other : inputs.subspan(1)) {
    input.emplace(other);
    pass.read(*input, nullptr);
  }
  return pass.finish();
}

std::vector<input_options> inputs_of(const joint_options& arguments, std::span<const operation> operations) {
  std::vector<input_options> inputs(arguments.files.size(), arguments.input);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].path = arguments.files[i];
    if (arguments.many.given()) continue;
    inputs[i].columns = default_columns::every;
    inputs[i].keep_lines = std::ranges::any_of(operations, has_index);
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
    throw usage_error(fmt::format("--together is about one result, and {} asks for many", many.name()));
  }
  if (arguments.files.size() > 1) throw usage_error(fmt::format("{} takes one file", many.name()));
}

void run_joint_reduction(joint_options arguments) {
  std::vector<operation> operations;
  for (const std::string& name : split(arguments.operations, ',')) {
    operations.push_back(parse_choice<operation>("operation", name, all_operations));
    check_missing(operations.back(), arguments.input);
  }
  if (arguments.files.empty()) arguments.files.push_back(implied_input("reduce"));
  check_options(arguments);
  const std::vector<input_options> inputs = inputs_of(arguments, operations);
  if (!arguments.many.by.empty()) {
    return run_by({.operations = operations,
                   .joint = true,
                   .inputs = inputs,
                   .together = arguments.together,
                   .many = arguments.many,
                   .chosen = arguments.how.checked(),
                   .force = arguments.force,
                   .explain = arguments.explain,
                   .json = arguments.json});
  }
  if (arguments.many.given()) {
    return run_batch({.operations = operations,
                      .joint = true,
                      .inputs = inputs,
                      .many = arguments.many,
                      .chosen = arguments.how.checked(),
                      .force = arguments.force,
                      .explain = arguments.explain,
                      .json = arguments.json});
  }
  for (const operation what : operations) {
    if (row_of(what).inputs > 1) throw usage_error(fmt::format("{} reads two inputs", to_string(what)));
  }
  const options chosen = arguments.how.checked();
  const bool apart = inputs.size() > 1 && !arguments.together;
  std::vector<finished_reduction> all;
  for (std::size_t i = 0; i < (apart ? inputs.size() : 1); ++i) {
    const std::span<const input_options> part(inputs.data() + i, apart ? 1 : inputs.size());
    std::ranges::move(reduce_jointly(operations, part, chosen), std::back_inserter(all));
  }
  warn_of_rounding(all);
  std::string text;
  json rows = json::array();
  for (const finished_reduction& done : all) {
    if (arguments.explain) explain(done);
    text += fmt::format("{} {}", to_string(done.what), line_of(done, apart));
    rows.push_back(to_json(done));
  }
  write_results(all, arguments.json ? printed(rows) : text);
}

}  // namespace

command add_joint_reduction(CLI::App& root) {
  auto arguments = std::make_shared<joint_options>();
  CLI::App* parser = root.add_subcommand("reduce", "Several operations in one pass");
  parser->add_option("OPERATION", arguments->operations, "operations that take one input, separated by commas")
      ->required();
  parser->add_option("FILE", arguments->files, "input files, each with a result of its own; - is standard input")
      ->type_name("");
  add_reading_options(*parser, arguments->input);
  parser->add_flag("--together", arguments->together, "one result for all files, as if they were one file");
  add_batch_options(*parser, arguments->many);
  add_run_options(*parser, arguments->how);
  parser->add_flag("--force", arguments->force, "replace the output file if it exists");
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
      "  fanin reduce sum,mean prices.csv\n"
      "  fanin reduce sum,mean day*.csv --together --column price,amount --by region,year --csv -o groups.csv\n"
      "  fanin reduce sum,mean,max cube.npy --axis 1\n"
      "  seq 1000 | fanin reduce sum,standard_deviation --json");
  return {parser, [arguments] { run_joint_reduction(*arguments); }};
}

}  // namespace fanin::cli
