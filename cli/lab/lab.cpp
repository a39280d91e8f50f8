// SPDX-License-Identifier: Apache-2.0
// fanin lab runs small experiments that show how a device executes.
#include "cli/lab/lab.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.hpp"
#include "cli/gpu.hpp"
#include "cli/kit/commit.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

struct lab_options {
  std::string experiment;
  unsigned device = 0;
  bool json = false;
};

std::string cell(const json& row, const lab_column& column) {
  const json& value = row.at(column.key);
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "ok" : "WRONG";
  if (value.is_string()) return value.get<std::string>();
  return fmt::format("{:.{}f}", column.scale * value.get<double>(), column.digits);
}

/// The sentences of the rows. Each sentence appears once, after the names of all its rows.
std::string sentences(const lab_page& page) {
  json rows_by_sentence = json::object();
  for (const json& row : page.rows) {
    if (const json says = row.value("says", json()); says.is_string())
      rows_by_sentence[says.get<std::string>()].push_back(cell(row, page.columns.front()));
  }
  std::string all;
  for (const auto& [says, rows] : rows_by_sentence.items())
    all += fmt::format("{}: {}.\n", fmt::join(rows.get<std::vector<std::string>>(), ", "), says);
  return all;
}

void run_lab(const lab_options& arguments) {
  const auto which = parse_choice<experiment>("experiment", arguments.experiment, all_experiments);
  progress line(fmt::format("lab: {}", arguments.experiment));
  const lab_page page = require_gpu().run_experiment(which, static_cast<int>(arguments.device));
  line.end();
  write_stdout(arguments.json ? printed(as_json(page)) : as_text(page));
  if (std::ranges::any_of(page.rows, [](const json& row) { return row.value("verified", true) == false; })) {
    throw bad_data("wrong results, so not timed");
  }
}

}  // namespace

std::string_view to_string(experiment which) {
  constexpr std::string_view names[] = {"divergence", "occupancy", "shapes", "latency"};
  return names[static_cast<std::size_t>(which)];
}

json as_json(const lab_page& page) {
  json all = described({{"experiment", to_string(page.which)}, {"commit", source_commit}});
  all.update(as_json(page.facts));
  all["rows"] = page.rows;
  return all;
}

std::string as_text(const lab_page& page) {
  table_row headings;
  for (const lab_column& column : page.columns) headings.emplace_back(column.heading);
  std::vector<table_row> table = {headings};
  for (const json& row : page.rows) {
    table_row cells;
    for (const lab_column& column : page.columns) cells.push_back(cell(row, column));
    table.push_back(std::move(cells));
  }
  const std::string text = sentences(page);
  return fmt::format("{}\n{}{}{}", align(as_rows(page.facts), 2), align(table, 1), text.empty() ? "" : "\n", text);
}

command add_lab(CLI::App& root) {
  auto arguments = std::make_shared<lab_options>();
  CLI::App* parser = root.add_subcommand("lab", "Experiments that show how a CUDA device executes");
  parser->add_option("EXPERIMENT", arguments->experiment, "divergence, occupancy, shapes or latency")
      ->type_name("")
      ->required();
  add_number_option(*parser, "--device", 0, arguments->device, "number of the CUDA device");
  parser->add_flag("--json", arguments->json, "print one JSON object");
  parser->footer(
      R"(Results are checked before anything is timed.

divergence  Compares two branches: one divides the threads of each warp, the other divides whole warps. The two are
            timed alternately: once with sides that only assign a constant, once with sides of 256 dependent
            operations.
occupancy   Shows what each stage of the ladder uses of a multiprocessor for a sum of f32 (i32 if the stage has no
            f32), and how many warps fit. It also shows how many warps Little's law asks for: latency x bandwidth of
            the memory, both measured, divided by the bytes in flight for each warp. These are the bytes that a warp,
            or the copies in its place, request before any of them is needed.
shapes      Times the sum of two matrices, and the total of one matrix, with blocks of every shape of 64 to 1024
            threads. The addition of vectors of as many elements is timed for comparison.
latency     Times chains of multiply-adds, and chains of loads from memory. Each operation of a chain waits for the
            one before. The tables show the speed by chains in a thread and by warps on a multiprocessor.

Examples:
  fanin lab divergence
  fanin lab occupancy --json)");
  return {parser, [arguments] { run_lab(*arguments); }};
}

}  // namespace fanin::cli
