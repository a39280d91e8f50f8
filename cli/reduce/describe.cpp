// SPDX-License-Identifier: Apache-2.0
// fanin describe: what there is in each column of an input, in one pass.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/input/options.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/table.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"
#include "cli/reduce/reduction.hpp"

namespace fanin::cli {

namespace {

struct describe_options {
  input_options input;
  std::string backend;
  unsigned threads = 0;
  bool json = false;
};

struct described_column {
  input_column column;
  element_type type;
  any_description found;

  rounded_numbers rounded() const { return column.rounded_as(type); }
};

struct named_number {
  std::string_view name;
  scalar any_description::*number;
};
constexpr named_number named_numbers[] = {{"min", &any_description::min},
                                          {"max", &any_description::max},
                                          {"sum", &any_description::sum},
                                          {"mean", &any_description::mean},
                                          {"standard_deviation", &any_description::standard_deviation}};

/// Whether the description has the number: an integer sum may not fit, and NaN alone have none.
bool is_described(const any_description& found, const named_number& which) {
  return found.count > 0 && (which.number != &any_description::sum || !found.sum_overflows);
}

std::string described_text(const any_description& found, const named_number& which) {
  if (found.count == 0) return "none";
  return is_described(found, which) ? value_text(found.*which.number) : "overflow";
}

json to_json(const described_column& one, const source& input) {
  json all = described(json{{"input", input.name()}});
  if (!one.column.name.empty()) all["column"] = one.column.name;
  all.update({{"element_type", to_string(one.type)}, {"count", one.found.count}, {"nan", one.found.nan}});
  if (input.skips_missing()) all["missing"] = one.column.missing;
  if (one.rounded().integers > 0) all["rounded_on_reading"] = one.rounded().integers;
  json texts;
  for (const named_number& which : named_numbers) {
    const std::string name(which.name);
    all[name] = is_described(one.found, which) ? json_value(one.found.*which.number).at("value") : json();
    texts[name] = described_text(one.found, which);
  }
  all["text"] = texts;
  return all;
}

table_row head_of_table(const source& input) {
  table_row head = {"count", "nan"};
  if (!input.columns()[0].name.empty()) head.insert(head.begin(), "column");
  if (input.skips_missing()) head.push_back("missing");
  for (const auto& [name, number] : named_numbers) head.emplace_back(name);
  return head;
}

table_row row_of_table(const described_column& one, const source& input) {
  table_row row;
  if (!one.column.name.empty()) row.push_back(one_line(one.column.name));
  row.push_back(std::to_string(one.found.count));
  row.push_back(std::to_string(one.found.nan));
  if (input.skips_missing()) row.push_back(std::to_string(one.column.missing));
  for (const named_number& which : named_numbers) row.push_back(described_text(one.found, which));
  return row;
}

/// The description of what was pushed into a stream. The stream itself gives no description if all numbers are
/// NaN.
any_description finished(typed_streams<describer>& stream, std::uint64_t pushed, const std::string& place) {
  if (pushed == 0) throw bad_data(fmt::format("{}: there is no number to describe", place));
  try {
    return stream.chosen().finish().value;
  } catch (const invalid_argument&) {
    any_description none{};
    none.nan = pushed;
    return none;
  }
}

std::vector<described_column> describe_columns(source& input, const options& chosen) {
  constexpr std::size_t most_bytes = std::size_t{4} << 20;  // between two signs of progress
  progress line("description of " + input.name());
  const auto make = [&](element_type type) { return std::make_unique<describer>(type, chosen); };
  const std::vector<element_type> types = supported_types(input.possible_types(), make);
  std::vector<typed_streams<describer>> columns;
  for (std::size_t i = 0; i < input.columns().size(); ++i) columns.emplace_back(types, make);
  std::vector<std::uint64_t> pushed(columns.size());
  for_each_piece(input, most_bytes, [&](std::size_t i, const array_view& piece) {
    element_forms forms(piece);
    columns[i].push(forms);
    pushed[i] += piece.count;
    line.add_bytes(piece.bytes());
  });
  input.finish();
  std::vector<described_column> all;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const input_column& column = input.columns()[i];
    if (!column.has_numbers) continue;
    const std::string place = place_text(input.name(), column.name);
    all.push_back({column, columns[i].type(), finished(columns[i], pushed[i], place)});
    if (all.back().found.sum_overflows) {
      write_stderr(fmt::format("warning: {}: the sum does not fit in 64 bits{}", place,
                               overflow_advice(input.infers_types())));
    }
    warn_of_rounding(place, all.back().rounded(), all.back().type);
  }
  return all;
}

void run_describe(describe_options arguments) {
  if (arguments.input.path.empty()) arguments.input.path = implied_input("describe");
  arguments.input.columns = default_columns::every_named;
  source input(arguments.input);
  const options chosen{.backend = arguments.backend, .threads = arguments.threads, .nan = nan_policy::skip};
  const std::vector<described_column> columns = describe_columns(input, chosen);
  std::vector<table_row> rows = {head_of_table(input)};
  json objects = json::array();
  for (const described_column& one : columns) {
    rows.push_back(row_of_table(one, input));
    objects.push_back(to_json(one, input));
  }
  const bool named = !input.columns()[0].name.empty();
  write_stdout(arguments.json ? printed(named ? objects : objects[0]) : align(rows, named ? 1 : 0));
}

}  // namespace

command add_describe(CLI::App& root) {
  auto arguments = std::make_shared<describe_options>();
  CLI::App* parser = root.add_subcommand("describe", "Count, extremes, sum, mean and deviation of each column");
  add_input_options(*parser, arguments->input, false);
  parser
      ->add_option(
          "--backend", arguments->backend,
          "one backend (an error if it cannot run); or a list in order of preference, as in 'tbb,serial'; or auto")
      ->type_name("NAMES");
  add_threads_option(*parser, arguments->threads);
  parser->add_flag("--json", arguments->json, "print a JSON object; for csv without --column an array of objects");
  parser->footer(
      "Prints a line for each column of numbers of csv; for other inputs one line. The line has the count, the "
      "number of "
      "NaN,\nthe smallest and the largest number, the sum, the mean and the population standard deviation. Each is "
      "correctly\nrounded, and NaN take no part. A note names the columns that are left out because they are not "
      "numbers.\n\n"
      "A sum of integers that does not fit in 64 bits is \"overflow\" (null with --json). A column that has only NaN "
      "has\n\"none\" in place of these values. The input is read once.\n"
      "Without FILE, standard input is read if it is a pipe or a file.\n\n"
      "Examples:\n  fanin describe prices.csv\n"
      "  fanin describe prices.csv --column price,amount --missing skip\n"
      "  fanin describe data.csv.zip --missing-words -,-999\n"
      "  fanin describe data.npy --json");
  return {parser, [arguments] { run_describe(*arguments); }};
}

}  // namespace fanin::cli
