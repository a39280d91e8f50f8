// SPDX-License-Identifier: Apache-2.0
#include "cli/input/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "cli/input/number.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

std::optional<std::size_t> number_of(std::string_view word) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  return code == std::errc() && end == word.data() + word.size() ? std::optional(number) : std::nullopt;
}

bool has(std::span<const std::string> header, std::string_view name) {
  return std::ranges::find(header, name) != header.end();
}

std::size_t field_of_name(std::string_view name, std::span<const std::string> header, const std::string& input) {
  const auto match = std::ranges::find(header, name);
  if (match == header.end()) {
    const char* const advice =
        std::filesystem::exists(name) ? "; FILE stands before --column and --by, which take all words behind them"
        : header.size() > 1
            ? ""
            : "; if the table begins further down, --skip-lines or --comment skips the lines above it; if "
              "blanks separate the fields, say --delimiter ' '";
    throw usage_error(
        fmt::format("{}: no column is called '{}'{}{}", input, printable(name), other_names(name, header), advice));
  }
  if (std::find(match + 1, header.end(), name) != header.end()) {
    throw usage_error(
        fmt::format("{}: several columns are called '{}'; choose one by its number", input, printable(name)));
  }
  return static_cast<std::size_t>(match - header.begin());
}

std::string heading_of(std::size_t field, std::span<const std::string> header) {
  return field < header.size() ? header[field] : "";
}

std::vector<chosen_column> named(const std::vector<std::size_t>& fields, std::span<const std::string> header) {
  std::map<std::string_view, std::size_t> uses;
  for (const std::string& name : header) ++uses[name];
  std::vector<chosen_column> columns;
  for (const std::size_t field : fields) {
    const bool has_name = field < header.size() && !header[field].empty() && uses[header[field]] == 1;
    std::string number = std::to_string(field + 1);
    while (uses.contains(number)) number.insert(0, "0");
    columns.push_back({field, has_name ? header[field] : number, heading_of(field, header)});
  }
  return columns;
}

}  // namespace

column_choice::column_choice(std::string words, std::string_view option)
    : every_(words.empty()), words_(every_ ? "all" : std::move(words)), option_(option) {
  const bool list = words_.find(',') != std::string::npos;
  for (const std::string& word : split(words_, ',')) {
    const std::string_view name = list ? trimmed(word) : std::string_view(word);
    parts_.push_back({std::string(name), number_of(name)});
  }
}

bool column_choice::is_every(std::span<const std::string> header) const {
  return every_ || (words_ == "all" && !has(header, words_));
}

bool column_choice::has_name() const noexcept {
  return !is_all() && std::ranges::any_of(parts_, [](const part& one) { return !one.number; });
}

std::size_t column_choice::field_of(const part& one, std::span<const std::string> header,
                                    const std::string& input) const {
  if (!one.number || has(header, one.name)) return field_of_name(one.name, header, input);
  if (*one.number == 0) throw usage_error(fmt::format("there is no column 0; {} counts from 1", option_));
  return *one.number - 1;
}

bool column_choice::is_by_parts(std::span<const std::string> header) const {
  return !every_ && (is_one_column() || !has(header, words_));
}

std::string column_choice::numbers_as_names(std::span<const std::string> header) const {
  if (!is_by_parts(header)) return {};
  std::string found;
  for (const part& one : parts_) {
    const auto place = static_cast<std::size_t>(std::ranges::find(header, one.name) - header.begin());
    if (!one.number || place == header.size() || place + 1 == *one.number) continue;
    found += fmt::format("{}{} {} means the column with the name {}, which is column {}", found.empty() ? "" : "; ",
                         option_, one.name, one.name, place + 1);
  }
  return found;
}

void column_choice::check_numbers(std::span<const std::string> first_record, const std::string& input) const {
  for (const part& one : parts_) {
    if (!one.number || *one.number <= first_record.size() || !has(first_record, one.name)) continue;
    throw usage_error(
        fmt::format("{}: {} {}: there are only {} columns; if the first line names the columns, say --header", input,
                    option_, one.name, first_record.size()));
  }
}

std::vector<chosen_column> column_choice::resolve(std::span<const std::string> header,
                                                  const std::string& input) const {
  const auto alone = [&](std::size_t field) {
    return std::vector<chosen_column>{{field, {}, heading_of(field, header)}};
  };
  if (is_one_column()) return alone(field_of(parts_[0], header, input));
  if (!is_by_parts(header) && !every_) return alone(field_of_name(words_, header, input));
  std::vector<std::size_t> fields(is_all() ? header.size() : 0);
  std::iota(fields.begin(), fields.end(), 0);
  if (is_all()) return named(fields, header);
  for (const part& one : parts_) fields.push_back(field_of(one, header, input));
  std::vector<std::size_t> sorted = fields;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw usage_error(fmt::format("{}: {} names column {} twice", input, option_, *twice + 1));
  }
  return named(fields, header);
}

}  // namespace fanin::cli
