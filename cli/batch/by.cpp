// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/by.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/batch/reduce_batch.hpp"
#include "cli/input/number.hpp"
#include "cli/input/record_keys.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

using key_fields = std::vector<std::string>;

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

json groups_json(const finished_batch& one, const std::vector<key_fields>& keys,
                 const std::vector<std::size_t>& order) {
  json groups = json::array();
  for (const std::size_t i : order) {
    json group = {{"key", keys[i].size() == 1 ? json(keys[i][0]) : json(keys[i])}};
    group.update(members_of(one.done.what, one.values[i]));
    group["value_text"] = text_of(one.done.what, one.values[i]);
    groups.push_back(group);
  }
  return to_json(one.done, json{{"groups", groups}});
}

std::string lines_of(const std::vector<finished_batch>& all, const std::vector<key_fields>& keys,
                     const std::vector<std::size_t>& order, char delimiter) {
  std::string text;
  for (const std::size_t i : order) {
    for (const std::string& field : keys[i]) text += csv_cell(field, delimiter) + delimiter;
    for (const finished_batch& one : all) {
      text += csv_cell(value_of(one.done.what, one.values[i]), delimiter) + delimiter;
    }
    text.back() = '\n';
  }
  return text;
}

}  // namespace

void run_by(by_request asked) {
  if (asked.input.column.empty()) throw usage_error("--by requires --column, whose numbers are reduced");
  asked.input.by = asked.many.by;
  source input(asked.input);
  input.require_one_column("--by");
  for (const operation what : asked.operations) {
    if (row_of(what).inputs > 1) throw usage_error(fmt::format("{} reads two inputs", to_string(what)));
  }
  const array_view values = input.load();
  input.finish();
  const std::vector<key_fields>& keys = input.keys().distinct();
  const batch many = groups(values, array_view(std::span(input.keys().of_elements())), keys.size());
  std::vector<finished_batch> all;
  for (const operation what : asked.operations) {
    finished_reduction begun{.what = what,
                             .inputs = {described(input)},
                             .missing = input.columns()[0].missing,
                             .rounded = input.columns()[0].rounded,
                             .reached = {}};
    all.push_back(reduce_batch(std::move(begun), many, asked.chosen, input.name()));
    if (!asked.explain) continue;
    explain_each(all.back().done);
    write_stderr(fmt::format("results: {}, of the keys in {}", keys.size(), printable(asked.many.by)));
  }
  warn_of_rounding(all);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  if (asked.many.sort_keys) sort_by_keys(order, keys);
  if (!asked.json) return write_stdout(lines_of(all, keys, order, input.delimiter()));
  json objects = json::array();
  for (const finished_batch& one : all) objects.push_back(groups_json(one, keys, order));
  write_stdout(printed(asked.joint ? objects : objects[0]));
}

}  // namespace fanin::cli
