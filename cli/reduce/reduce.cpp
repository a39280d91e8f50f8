// SPDX-License-Identifier: Apache-2.0
// fanin sum, product, min and the other operations of the catalogue: one number from one input or two, or from each
// of many.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/App.hpp>

#include "cli/exact_state.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

struct reduction_options {
  std::vector<std::string> files;  ///< of an operation of one input
  input_options input;             ///< its path is the first input of an operation of two
  std::string other;               ///< the second one
  bool together = false;           ///< one result of all files
  run_options how;
  std::string save_state;
  bool force = false;  ///< replace the file `save_state`
  bool explain = false, json = false;
};

sources open_all(const input_options& like, const std::vector<std::string>& paths) {
  sources all;
  for (const std::string& path : paths) {
    input_options one = like;
    one.path = path;
    all.push_back(std::make_unique<source>(one));
    const source &first = *all.front(), &last = *all.back();
    if (last.type() != first.type()) {
      throw usage_error(fmt::format("{} has elements of {}, and {} of {}", first.name(), to_string(first.type()),
                                    last.name(), to_string(last.type())));
    }
  }
  return all;
}

// Null if all elements are in memory, if the operation has two inputs, or if the variant needs all elements at once.
// If the request is unsupported for another reason, the plan that follows throws the same error.
std::unique_ptr<incremental> open_stream(operation what, const sources& inputs, const options& chosen) {
  if (row_of(what).inputs > 1 || (inputs.size() == 1 && inputs[0]->whole())) return nullptr;
  try {
    return std::make_unique<incremental>(what, inputs[0]->type(), chosen);
  } catch (const unsupported&) {
    if (inputs.size() > 1) throw;
    return nullptr;
  }
}

// The reduction of all inputs, one after the other; of an operation of two inputs both. If `state` is not null, all
// elements are also added to it.
finished_reduction reduce_sources(operation what, const sources& inputs, const options& chosen, exact_state* state) {
  finished_reduction done;
  done.what = what;
  for (const auto& input : inputs) done.input += (done.input.empty() ? "" : ", ") + input->name();
  progress line(fmt::format("{} of {}", to_string(what), done.input));
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<incremental> stream = open_stream(what, inputs, chosen);
  if (!stream) {
    const array_view all = inputs[0]->load();
    const input_views views = inputs.size() > 1 ? input_views(all, inputs[1]->load()) : input_views(all);
    const plan checked(what, all.type, chosen,
                       all.count);  // What is wrong with the options is not the input's fault.
    done.count = all.count;
    done.reached = with_input_name(inputs[0]->name(), [&] { return reduce(what, views, chosen); });
    if (state != nullptr) state->add(all);
  } else {
    const auto push = [&](const array_view& block) {
      stream->push(block);
      if (state != nullptr) state->add(block);
      done.count += block.count;
      line.add_bytes(block.bytes());
    };
    for (const auto& input : inputs) {
      if (input->whole()) {
        push(*input->whole());
      } else {
        for (array_view block = input->next(); block.count > 0; block = input->next()) push(block);
      }
    }
    done.reached = with_input_name(done.input, [&] { return stream->finish(); });
  }
  done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const auto& input : inputs) input->finish();
  return done;
}

// The reduction of these files, with its messages and its saved state.
std::pair<finished_reduction, element_type> run_on(operation what, const std::vector<std::string>& paths,
                                                   const options& chosen, const reduction_options& arguments) {
  const sources inputs = open_all(arguments.input, paths);
  std::optional<exact_state> state;
  std::optional<output_file> file;
  if (!arguments.save_state.empty()) {
    for (const auto& input : inputs) {
      if (!input->is_file(arguments.save_state)) continue;
      throw usage_error(fmt::format("{}: is the input; --save-state would replace it", arguments.save_state));
    }
    state.emplace(inputs[0]->type());
    // Created before the reduction, so that a bad path fails early.
    file.emplace(arguments.save_state, arguments.force);
  }
  finished_reduction done = reduce_sources(what, inputs, chosen, state ? &*state : nullptr);
  if (state) state->save(*file);
  if (arguments.explain) explain(done, inputs);
  return {std::move(done), inputs[0]->type()};
}

void run_reduction(operation what, const reduction_options& arguments) {
  options chosen = arguments.how.checked();
  chosen.how = default_method_of_command(what, chosen);
  const bool pair = row_of(what).inputs == 2;
  std::vector<std::string> files = pair ? std::vector{arguments.input.path, arguments.other} : arguments.files;
  if (files.empty()) files.push_back(implied_input(to_string(what)));
  const bool apart = files.size() > 1 && !pair && !arguments.together;
  if (!arguments.save_state.empty() && chosen.how != method::exact)
    throw usage_error("--save-state needs the method exact");
  if (!arguments.save_state.empty() && chosen.nan == nan_policy::skip) {
    throw usage_error("--save-state adds every element: it does not go with --nan skip");
  }
  if (!arguments.save_state.empty() && apart) throw usage_error("--save-state of many files needs --together");
  check_state_path(arguments.save_state);
  if (std::ranges::count(files, "-") > 1) {
    throw usage_error(pair ? "standard input cannot be both inputs" : "standard input is named twice");
  }
  if (!apart) {
    const auto [done, type] = run_on(what, files, chosen, arguments);
    return write_stdout(arguments.json ? printed(to_json(done, type)) : line_of(done) + "\n");
  }
  std::string text;
  json rows = json::array();
  for (const std::string& path : files) {
    const auto [done, type] = run_on(what, {path}, chosen, arguments);
    text += fmt::format("{}  {}\n", line_of(done), one_line(done.input));
    rows.push_back(to_json(done, type));
  }
  write_stdout(arguments.json ? printed(rows) : text);
}

command add_reduction(CLI::App& root, operation what) {
  const std::string name(to_string(what));
  auto arguments = std::make_shared<reduction_options>();
  const operation_row& row = row_of(what);
  std::string story(row.story);
  if (!row.of_floats.fast) story += ", correctly rounded";
  if (!row.of_integers) story += " (floating-point types)";
  CLI::App* parser = root.add_subcommand(name, story);
  if (row.inputs == 2) {
    add_input_options(*parser, arguments->input, true);
    parser->add_option("OTHER", arguments->other, "second input file, of the same format and type")->required();
  } else {
    parser->add_option("FILE", arguments->files, "input files, of which each gives a line; - is standard input")
        ->type_name("");
    add_reading_options(*parser, arguments->input);
    parser->add_flag("--together", arguments->together, "one result of all files, as if they were one");
  }
  add_run_options(*parser, arguments->how);
  if (std::ranges::find(state_operations, what) != std::end(state_operations)) {
    CLI::Option* save =
        parser
            ->add_option(
                "--save-state", arguments->save_state,
                "with the method exact: write the sum before rounding, for 'merge', to a file that is no input")
            ->type_name("FILE");
    parser->add_flag("--force", arguments->force, "replace the file of --save-state if it exists")->needs(save);
  }
  parser->add_flag("--explain", arguments->explain,
                   "say on stderr who ran, who was passed over and why, and the error bound");
  parser->add_flag("--json", arguments->json, "print a JSON object, or of many files an array");
  const std::string_view files = row.inputs == 2 ? "x.npy y.npy" : "data.npy";
  std::string examples = row.of_floats.exact && row.of_floats.fast && !row.unrounded
                             ? "Without --method, the value is exact: correctly rounded. --method fast is plain "
                               "floating-point addition.\n\n"
                             : "";
  if (row.inputs == 1) examples += "Without FILE, standard input is read if it is a pipe or a file.\n\n";
  examples += fmt::format("Examples:\n  fanin {} {}\n", name, files);
  if (row.inputs == 1) {
    examples += fmt::format(
        "  fanin {0} prices.csv --column price --explain\n"
        "  fanin {0} samples.bin --type f32 --skip 512 --json\n"
        "  fanin {0} day*.npy --together\n"
        "  seq 1000 | fanin {0} --threads 2",
        name);
  } else {
    examples += fmt::format(
        "  fanin {0} prices.csv amounts.csv --column 1 --explain\n"
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
