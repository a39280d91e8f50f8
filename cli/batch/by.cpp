// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/by.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/batch/grouped_table.hpp"
#include "cli/batch/reduce_batch.hpp"
#include "cli/input/number.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

/// The number that the text is, unless it is NaN.
std::optional<double> ordered_number(const std::string& text) {
  std::vector<std::byte> bytes;
  rounded_numbers rounded;
  if (number_reader_of(element_type::f64)(text, bytes, rounded) != std::errc()) return std::nullopt;
  double value = 0;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(&value));
  return value == value ? std::optional(value) : std::nullopt;
}

// The places of the groups by their keys: each field as text, or as a number if it is a number in every key.
void sort_by_keys(std::vector<std::size_t>& order, const std::vector<key_fields>& keys) {
  if (keys.empty()) return;
  std::vector<std::vector<double>> numbers(keys[0].size());  // for each field that is a number in every key
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const key_fields& key : keys) {
      const std::optional<double> number = ordered_number(key[i]);
      if (!number) {
        numbers[i].clear();
        break;
      }
      numbers[i].push_back(*number);
    }
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i].empty() && numbers[i][a] != numbers[i][b]) return numbers[i][a] < numbers[i][b];
      if (keys[a][i] != keys[b][i]) return keys[a][i] < keys[b][i];
    }
    return false;
  });
}

/// The results of one table.
struct finished_table {
  std::string input;
  std::vector<std::string> names;  ///< the names of the key's fields, and of the values
  bool has_header = false;
  char delimiter = ',';
  std::vector<key_fields> keys;
  std::vector<std::size_t> order = {};       ///< the order of the groups
  std::vector<finished_batch> batches = {};  ///< each statistic of the first column, then of the second, ...

  std::string key_text(std::size_t group) const { return printable(fmt::format("{}", fmt::join(keys[group], ","))); }
};

finished_table reduce_table(const grouped_table& table, const by_request& asked) {
  const record_keys& keys = table.keys();
  finished_table all{.input = table.inputs().front().name,
                     .names = keys.names(),
                     .has_header = !table.columns().front().heading.empty(),
                     .delimiter = asked.many.csv ? ',' : table.delimiter(),
                     .keys = keys.distinct()};
  for (const grouped_column& column : table.columns()) {
    if (!column.has_numbers) continue;  // It has been left out.
    const batch many = groups(column.elements(), array_view(std::span(column.keys)), all.keys.size());
    const std::string& number = column.name.empty() ? asked.inputs.front().column : column.name;
    for (const statistic& what : asked.statistics) {
      finished_reduction begun{.what = what,
                               .inputs = table.inputs(),
                               .column = column.name,
                               .missing = column.missing,
                               .rounded = column.rounded,
                               .reached = {}};
      all.batches.push_back(reduce_groups(std::move(begun), many, asked.chosen));
      finished_batch& one = all.batches.back();
      one.find(table.lines(), [](std::size_t, std::uint64_t index) { return std::optional(index); });
      std::ranges::move(
          one.field_names(fmt::format("{}_{}", column.heading.empty() ? number : column.heading, what.name)),
          std::back_inserter(all.names));
      if (!asked.explain) continue;
      explain_each(one.done);
      write_stderr(fmt::format("results: {}, one for each key in {}", all.keys.size(), printable(asked.many.by)));
    }
  }
  warn_of_rounding(all.batches);
  all.order.resize(all.keys.size());
  std::iota(all.order.begin(), all.order.end(), 0);
  if (asked.many.sort_keys) sort_by_keys(all.order, all.keys);
  return all;
}

/// The members that members_of() gives, for a result that does not exist.
json absent_members(operation what) {
  switch (row_of(what).form) {
    case result_form::extremes:
      return {{"min", nullptr}, {"max", nullptr}};
    case result_form::indexed:
      return {{"value", nullptr}, {"index", nullptr}};
    default:
      return {{"value", nullptr}};
  }
}

json groups_json(const finished_table& table, const finished_batch& one) {
  json groups = json::array();
  for (const std::size_t i : table.order) {
    const key_fields& key = table.keys[i];
    json group = {{"key", key.size() == 1 ? json(key[0]) : json(key)}};
    group.update(one.has(i) ? members_of(one.done.what.like, one.values[i]) : absent_members(one.done.what.like));
    group["value_text"] = one.has(i) ? text_of(one.done.what.like, one.values[i]) : std::string(one.absent[i]);
    if (one.found && (*one.found)[i]) {
      group["line"] = (*one.found)[i]->line;
      if (one.done.inputs.size() > 1) group["line_of"] = (*one.found)[i]->input;
    }
    groups.push_back(group);
  }
  return to_json(one.done, json{{"groups", groups}});
}

std::string printed_json(const std::vector<finished_table>& tables, bool joint) {
  json objects = json::array();
  for (const finished_table& table : tables) {
    for (const finished_batch& one : table.batches) objects.push_back(groups_json(table, one));
  }
  const bool is_array = joint || tables.size() > 1 || !tables[0].batches[0].done.column.empty();
  return printed(is_array ? objects : objects[0]);
}

std::string lines_of(const std::vector<finished_table>& tables, bool csv) {
  const char delimiter = tables[0].delimiter;
  const bool names_file = tables.size() > 1;
  std::string text;
  const auto append = [&](const std::string& field) { text += csv_cell(field, delimiter) + delimiter; };
  if (csv || tables[0].has_header) {
    if (names_file) append("file");
    for (const std::string& name : tables[0].names) append(name);
    text.back() = '\n';
  }
  for (const finished_table& table : tables) {
    if (table.names != tables[0].names) {
      throw usage_error(fmt::format("{} has the results {}, but {} has {}; --json prints both", tables[0].input,
                                    printable(fmt::format("{}", fmt::join(tables[0].names, ","))), table.input,
                                    printable(fmt::format("{}", fmt::join(table.names, ",")))));
    }
    for (const std::size_t i : table.order) {
      if (names_file) append(table.input);
      for (const std::string& field : table.keys[i]) append(field);
      for (const finished_batch& one : table.batches) std::ranges::for_each(one.fields(i), append);
      text.back() = '\n';
    }
  }
  return text;
}

/// Warns of groups that have too few numbers. Returns messages about groups whose total does not fit.
std::vector<std::string> problems_of(const std::vector<finished_table>& tables) {
  std::vector<std::string> problems;
  for (const finished_table& table : tables) {
    for (const finished_batch& one : table.batches) {
      const auto name = [&](std::size_t i) { return fmt::format("group '{}'", table.key_text(i)); };
      const std::string few = one.absent_results(no_number, name);
      if (!few.empty()) write_stderr(fmt::format("warning: {} needs more numbers", few));
      problems.push_back(one.overflow_problem(name));
    }
  }
  return problems;
}

}  // namespace

void run_by(by_request asked) {
  if (asked.inputs[0].column.empty())
    throw usage_error(
        "--by requires --column, which names the numbers to reduce; --column all takes every column of numbers");
  for (const statistic& what : asked.statistics) {
    if (row_of(what.like).inputs > 1)
      throw usage_error(fmt::format("{} reads two inputs, and --by takes operations of one input", what.name));
  }
  const std::string& output = asked.many.output;
  std::optional<output_file> file;
  std::vector<finished_table> tables;
  grouped_table table;
  for (input_options& one : asked.inputs) {
    one.by = asked.many.by;
    source input(one);
    if (!output.empty() && input.is_file(output)) {
      throw usage_error(fmt::format("{}: --output would replace the input; choose another name", output));
    }
    // Created before the reduction, so that a bad path fails early.
    if (!output.empty() && !file) file.emplace(output, asked.force);
    table.read(input);
    if (!asked.together) tables.push_back(reduce_table(std::exchange(table, {}), asked));
  }
  if (asked.together) tables.push_back(reduce_table(table, asked));
  const std::string text = asked.json ? printed_json(tables, asked.joint) : lines_of(tables, asked.many.csv);
  const std::vector<std::string> problems = problems_of(tables);
  const auto has_value = [](const finished_table& one) {
    return std::ranges::any_of(one.batches, &finished_batch::has_any);
  };
  if (std::ranges::none_of(tables, has_value)) throw_problems(problems);
  if (file) {
    file->write(std::as_bytes(std::span(text)));
    file->commit();
  } else {
    write_stdout(text);
  }
  throw_problems(problems);
}

}  // namespace fanin::cli
