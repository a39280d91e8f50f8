// SPDX-License-Identifier: Apache-2.0
// fanin sum, product, min and the other operations of the catalogue: one number from one input or two, or from each
// of many.
#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/batch/batch.hpp"
#include "cli/batch/by.hpp"
#include "cli/exact_state.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/loaded.hpp"
#include "cli/reduce/pass.hpp"

namespace fanin::cli {

namespace {

struct reduction_options {
  std::vector<std::string> files;  ///< the inputs of an operation of one input
  input_options input;             ///< with the path of the first input
  std::string other;               ///< the second one; empty: the second column of the first one
  bool together = false;           ///< one result of all files
  batch_options many;
  run_options how;
  std::string save_state;
  bool force = false;  ///< replace the file `save_state`, or the file of the many results
  bool bound = false;  ///< compute the largest possible error, at the cost of one more read
  bool explain = false, json = false;
};

input_options at_path(input_options like, const std::string& path) {
  like.path = path;
  return like;
}

finished_reduction reduce_two_columns(operation what, input_options arguments, const options& chosen) {
  arguments.columns = default_columns::every;
  source input(arguments);
  const std::span<const input_column> columns = input.columns();
  if (columns.size() != 2) {
    throw usage_error(fmt::format("{} takes FILE and OTHER, or two columns of FILE as in --column price,quantity",
                                  to_string(what)));
  }
  finished_reduction done = reduce_loaded(what, {input.load(0), input.load(1)}, chosen,
                                          {.what = what, .inputs = {described(input)}, .reached = {}});
  for (const input_column& one : columns) done.rounded += one.rounded;
  input.finish();
  return done;
}

finished_reduction reduce_pair(operation what, const reduction_options& arguments, const options& chosen) {
  if (arguments.other.empty()) return reduce_two_columns(what, arguments.input, chosen);
  source first(arguments.input), second(at_path(arguments.input, arguments.other));
  for (const source* one : {&first, &second}) one->require_one_column(to_string(what));
  require_same_type(first, second);
  finished_reduction done =
      reduce_loaded(what, {first.load(), second.load()}, chosen,
                    {.what = what, .inputs = {described(first), described(second)}, .reached = {}});
  for (const source* one : {&first, &second}) done.rounded += one->columns()[0].rounded;
  first.finish();
  second.finish();
  return done;
}

// Null if all elements are in memory, or if the variant or options::bound needs all elements at once. If the request
// is unsupported for another reason, the plan that follows throws the same error.
std::unique_ptr<reduction_pass> open_pass(const statistic& what, const source& first, bool many,
                                          const options& chosen) {
  if (!many && (first.whole() || chosen.bound)) return nullptr;
  try {
    return std::make_unique<reduction_pass>(std::span(&what, 1), first, chosen);
  } catch (const unsupported&) {
    if (many) throw;
    return nullptr;
  }
}

// The reductions of the columns of these files, as if they were one, which are open one after the other.
std::vector<finished_reduction> reduce_files(const statistic& what, const std::vector<std::string>& paths,
                                             const options& chosen, const reduction_options& arguments) {
  auto input = std::make_unique<source>(at_path(arguments.input, paths[0]));
  std::optional<exact_state> state;
  std::optional<output_file> file;
  const auto check_not_replaced = [&] {
    if (arguments.save_state.empty() || !input->is_file(arguments.save_state)) return;
    throw usage_error(
        fmt::format("{}: --save-state would replace the input; choose another name", arguments.save_state));
  };
  check_not_replaced();
  if (!arguments.save_state.empty()) {
    input->require_one_column("--save-state");
    state.emplace(input->type());
    // Created before the reduction, so that a bad path fails early.
    file.emplace(arguments.save_state, arguments.force);
  }
  exact_state* const sum = state ? &*state : nullptr;
  std::vector<finished_reduction> all;
  if (const auto pass = open_pass(what, *input, paths.size() > 1, chosen)) {
    pass->read(*input, sum);
    for (std::size_t i = 1; i < paths.size(); ++i) {
      input = nullptr;
      input = std::make_unique<source>(at_path(arguments.input, paths[i]));
      check_not_replaced();
      pass->read(*input, sum);
    }
    all = pass->finish();
  } else {
    all = reduce_columns(std::span(&what, 1), *input, chosen, sum);
  }
  if (state) state->save(*file);
  return all;
}

// @throws usage_error if an option needs another one, or contradicts that for many results
void check_together(const reduction_options& arguments, std::size_t files) {
  const batch_options& many = arguments.many;
  if (arguments.force && many.output.empty() && arguments.save_state.empty()) {
    throw usage_error("--force requires --output or --save-state, whose file it replaces");
  }
  many.check_output();
  if (!many.given()) return;
  const auto refuse = [&](bool given, std::string_view option) {
    if (given)
      throw usage_error(
          fmt::format("{} is for one result, but {} asks for many; leave one of them out", option, many.name()));
  };
  refuse(arguments.together && many.by.empty(), "--together");
  refuse(!arguments.save_state.empty(), "--save-state");
  refuse(arguments.bound, "--bound");
  if (files > 1 && many.by.empty()) throw usage_error(fmt::format("{} takes one file", many.name()));
}

std::vector<input_options> inputs_of(const std::vector<std::string>& files, const reduction_options& arguments) {
  std::vector<input_options> inputs;
  for (const std::string& path : files) inputs.push_back(at_path(arguments.input, path));
  return inputs;
}

void run_reduction(operation what, reduction_options arguments) {
  options chosen = arguments.how.checked();
  chosen.bound = arguments.bound;
  const bool pair = row_of(what).inputs == 2;
  std::vector<std::string> files = arguments.files;
  if (pair && !arguments.input.path.empty()) files = {arguments.input.path};
  if (files.empty()) files.push_back(implied_input(to_string(what)));
  arguments.input.path = files[0];
  if (!arguments.other.empty()) files.push_back(arguments.other);
  check_together(arguments, pair ? 1 : files.size());
  const bool apart = files.size() > 1 && !pair && !arguments.together;
  const bool is_exact = chosen.method ? *chosen.method == method::exact : chosen.variant.empty();
  if (!arguments.save_state.empty() && !is_exact) throw usage_error("--save-state needs the method exact");
  if (!arguments.save_state.empty() && chosen.nan == nan_policy::skip) {
    throw usage_error("--save-state adds every element: it does not go with --nan skip");
  }
  if (arguments.bound && arguments.together && files.size() > 1) {
    throw usage_error("--bound holds all elements in memory: it does not go with --together of several files");
  }
  if (!arguments.save_state.empty() && apart) throw usage_error("--save-state of many files needs --together");
  check_state_path(arguments.save_state);
  if (std::ranges::count(files, "-") > 1) {
    throw usage_error(pair ? "standard input cannot be both inputs" : "standard input is named twice");
  }
  check_missing(what, arguments.input);
  // Two inputs have one type, and a state is one of floating-point numbers.
  arguments.input.integers = !pair && arguments.save_state.empty();
  const bool takes_columns = arguments.input.integers && !arguments.many.given() && arguments.many.by.empty();
  if (takes_columns) arguments.input.columns = default_columns::every;
  arguments.input.keep_lines = has_index(what);
  arguments.input.can_skip = can_skip_missing(what) && arguments.many.takes_missing();
  if (!arguments.many.by.empty()) {
    return run_by({.statistics = {what},
                   .inputs = inputs_of(files, arguments),
                   .together = arguments.together,
                   .many = arguments.many,
                   .chosen = chosen,
                   .force = arguments.force,
                   .explain = arguments.explain,
                   .json = arguments.json});
  }
  if (arguments.many.given()) {
    return run_batch({.statistics = {what},
                      .inputs = inputs_of(files, arguments),
                      .many = arguments.many,
                      .chosen = chosen,
                      .force = arguments.force,
                      .explain = arguments.explain,
                      .json = arguments.json});
  }
  std::vector<finished_reduction> all;
  if (pair) {
    all.push_back(reduce_pair(what, arguments, chosen));
  } else if (!apart) {
    all = reduce_files(what, files, chosen, arguments);
  } else {
    for (const std::string& path : files)
      std::ranges::move(reduce_files(what, {path}, chosen, arguments), std::back_inserter(all));
  }
  warn_of_rounding(all);
  std::string text;
  json rows = json::array();
  for (const finished_reduction& done : all) {
    if (arguments.explain) explain(done);
    text += line_of(done, apart);
    rows.push_back(to_json(done));
  }
  const bool one_row = !apart && all.front().column.empty();
  write_results(all, arguments.json ? printed(one_row ? rows[0] : rows) : text);
}

command add_reduction(CLI::App& root, operation what) {
  const std::string name(to_string(what));
  auto arguments = std::make_shared<reduction_options>();
  const operation_row& row = row_of(what);
  std::string story(row.story);
  if (!row.of_floats.fast) story += ", correctly rounded";
  CLI::App* parser = root.add_subcommand(name, story);
  if (row.inputs == 2) {
    add_input_options(*parser, arguments->input, false);
    parser->add_option("OTHER", arguments->other,
                       "second input file, of the same format and type (default: the second of two columns of FILE)");
  } else {
    parser->add_option("FILE", arguments->files, "input files, each with a result of its own; - is standard input")
        ->type_name("");
    add_reading_options(*parser, arguments->input);
    parser->add_flag("--together", arguments->together, "one result for all files, as if they were one file");
  }
  add_run_options(*parser, arguments->how);
  if (row.adds == summand::elements) {
    parser
        ->add_option(
            "--save-state", arguments->save_state,
            "write the exact sum before it is rounded to FILE, for 'fanin merge'; requires the method exact; FILE "
            "may not be an input")
        ->type_name("FILE");
  }
  add_batch_options(*parser, arguments->many);
  parser->add_flag("--force", arguments->force, "replace the output file if it exists");
  if (row.of_floats.fast) {
    parser->add_flag("--bound", arguments->bound,
                     "compute the largest possible error of a fast or compensated result, at the cost of one more "
                     "read; --explain and --json print it");
  }
  add_explain_option(*parser, arguments->explain);
  parser->add_flag("--json", arguments->json,
                   "print a JSON object; for several files or columns an array of objects");
  if (row.inputs == 1) add_by_options(*parser, arguments->many);
  const std::string_view files = row.inputs == 2 ? "x.npy y.npy" : "data.npy";
  std::string examples = row.of_floats.exact && row.of_floats.fast && !row.unrounded
                             ? "The default method is exact: the value is correctly rounded. --method fast is plain "
                               "floating-point addition.\n\n"
                             : "";
  if (has_index(what)) {
    examples +=
        "Prints the index (from 0), the element and, for text and csv, the line of the element: 4 7.5 line 6\n\n";
  }
  if (row.inputs == 1) {
    examples += "Without --column every column of numbers of csv is reduced. A note names the other columns.\n\n";
  }
  examples += "Without FILE, standard input is read if it is a pipe or a file.\n\n";
  examples += fmt::format("Examples:\n  fanin {} {}\n", name, files);
  if (row.inputs == 1) {
    examples += fmt::format(
        "  fanin {0} prices.csv --column price --explain\n"
        "  fanin {0} prices.csv --column price,amount{2}\n"
        "  fanin {0} samples.bin --type f32 --skip 512 --json\n"
        "  fanin {0} day*.npy --together\n"
        "  fanin {0} cube.npy --axis -1 {1}\n"
        "  fanin {0} x.npy --keys regions.npy --json\n"
        "  fanin {0} prices.csv --column price --by region,year --sort-keys\n"
        "  seq 20 | fanin {0} --threads 2",
        name, row.form == result_form::extremes ? "--json" : "--output rows.npy",
        row.form == result_form::indexed ? "" : " --missing skip");
  } else {
    examples += fmt::format(
        "  fanin {0} table.csv --column price,quantity\n"
        "  fanin {0} prices.csv amounts.csv --column 1 --explain\n"
        "  fanin {0} x.npy y.npy --axis 1\n"
        "  fanin {0} x.bin y.bin --type f32 --json",
        name);
  }
  parser->footer(examples);
  return {parser, [what, arguments] { run_reduction(what, *arguments); }};
}

}  // namespace

std::vector<command> add_reductions(CLI::App& root) {
  std::vector<command> all;
  for (const operation what : all_operations) all.push_back(add_reduction(root, what));
  all.push_back(add_joint_reduction(root));
  return all;
}

}  // namespace fanin::cli
