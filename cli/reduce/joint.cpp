// SPDX-License-Identifier: Apache-2.0
// fanin reduce: several operations in one pass.
#include <algorithm>
#include <chrono>
#include <memory>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

struct joint_options {
  std::string operations;  ///< separated by commas
  input_options input;
  run_options how;
  bool json = false;
};

// Pushes each block of the input to a stream of each operation while a cache has it.
std::vector<finished_reduction> reduce_jointly(std::span<const operation> operations, source& input,
                                               const options& chosen) {
  std::vector<finished_reduction> all;
  std::vector<std::unique_ptr<incremental>> streams;
  for (const operation what : operations) {
    if (row_of(what).inputs > 1) throw usage_error(fmt::format("{} reads two inputs", to_string(what)));
    options own = chosen;
    own.how = default_method_of_command(what, chosen);
    streams.push_back(std::make_unique<incremental>(what, input.type(), own));
    all.push_back({.what = what, .input = input.name(), .reached = {}});
  }
  progress line(fmt::format("reduction of {}", input.name()));
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t count = 0;
  const auto push = [&](const array_view& block) {
    for (const auto& stream : streams) stream->push(block);
    count += block.count;
    line.add_bytes(block.bytes());
  };
  if (input.whole()) {
    const array_view whole = *input.whole();
    const std::size_t most = (std::size_t{4} << 20) / size_of(whole.type);
    for (std::size_t i = 0; i < whole.count; i += most) {
      push(input_views(whole).part(i, std::min(most, whole.count - i))[0]);
    }
  } else {
    for (array_view block = input.next(); block.count > 0; block = input.next()) push(block);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].count = count;
    all[i].reached = with_input_name(input.name(), [&] { return streams[i]->finish(); });
    all[i].seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  input.finish();
  return all;
}

void run_joint_reduction(joint_options arguments) {
  std::vector<operation> operations;
  for (const auto word : std::views::split(arguments.operations, ',')) {
    const std::string_view name(word.begin(), word.end());
    operations.push_back(parse_choice<operation>("operation", name, all_operations));
  }
  if (arguments.input.path.empty()) arguments.input.path = implied_input("reduce");
  source input(arguments.input);
  const std::vector<finished_reduction> all = reduce_jointly(operations, input, arguments.how.checked());
  std::string text;
  json rows = json::array();
  for (const finished_reduction& done : all) {
    text += fmt::format("{} {}\n", to_string(done.what), line_of(done));
    rows.push_back(to_json(done, input.type()));
  }
  write_stdout(arguments.json ? printed(rows) : text);
}

}  // namespace

command add_joint_reduction(CLI::App& root) {
  auto arguments = std::make_shared<joint_options>();
  CLI::App* parser = root.add_subcommand("reduce", "Several operations in one pass");
  parser->add_option("OPERATION", arguments->operations, "operations of one input, separated by commas")->required();
  add_input_options(*parser, arguments->input, false);
  add_run_options(*parser, arguments->how);
  parser->add_flag("--json", arguments->json, "print an array with a JSON object for each operation");
  parser->footer(
      "Prints a line for each operation: its name and its value. Without --method, values are exact.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin reduce min,mean,max prices.csv --column price\n"
      "  seq 1000 | fanin reduce sum,standard_deviation --json");
  return {parser, [arguments] { run_joint_reduction(*arguments); }};
}

}  // namespace fanin::cli
