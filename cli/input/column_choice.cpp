// SPDX-License-Identifier: Apache-2.0
#include "cli/input/column_choice.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "cli/input/number.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

std::optional<std::size_t> field_of_number(std::string_view word, std::string_view option) {
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size()) return std::nullopt;
  if (number == 0) throw usage_error(fmt::format("{} counts from 1", option));
  return number - 1;
}

std::size_t field_of_name(std::string_view name, std::span<const std::string> header, const std::string& input) {
  const auto match = std::ranges::find(header, name);
  if (match == header.end()) {
    throw usage_error(
        fmt::format("{}: no column is called '{}'{}", input, printable(name), other_names(name, header)));
  }
  if (std::find(match + 1, header.end(), name) != header.end()) {
    throw usage_error(
        fmt::format("{}: several columns are called '{}'; choose one by its number", input, printable(name)));
  }
  return static_cast<std::size_t>(match - header.begin());
}

std::vector<chosen_column> named(const std::vector<std::size_t>& fields, std::span<const std::string> header) {
  std::map<std::string_view, std::size_t> uses;
  for (const std::string& name : header) ++uses[name];
  std::vector<chosen_column> columns;
  for (const std::size_t field : fields) {
    const bool has_name = field < header.size() && uses[header[field]] == 1 &&
                          header[field].find_first_not_of("0123456789") != std::string::npos;
    columns.push_back({field, has_name ? header[field] : std::to_string(field + 1)});
  }
  return columns;
}

}  // namespace

column_choice::column_choice(std::string words, std::string_view option) : words_(std::move(words)), option_(option) {
  const bool list = words_.find(',') != std::string::npos;
  for (const std::string& word : split(words_, ',')) {
    const std::string_view name = list ? trimmed(word) : std::string_view(word);
    parts_.push_back({std::string(name), field_of_number(name, option_)});
  }
  if (words_.empty()) parts_ = {{"", 0}};
}

column_choice column_choice::every() {
  column_choice all("all");
  all.every_ = true;
  return all;
}

bool column_choice::has_name() const noexcept {
  return !is_all() && std::ranges::any_of(parts_, [](const part& one) { return !one.field; });
}

std::vector<chosen_column> column_choice::resolve(std::span<const std::string> header,
                                                  const std::string& input) const {
  if (parts_.size() == 1 && parts_[0].field) return {{*parts_[0].field}};
  if (!every_ && (is_one_column() || std::ranges::find(header, words_) != header.end()))
    return {{field_of_name(words_, header, input)}};
  std::vector<std::size_t> fields(is_all() ? header.size() : 0);
  std::iota(fields.begin(), fields.end(), 0);
  if (is_all()) return named(fields, header);
  for (const part& one : parts_) fields.push_back(one.field ? *one.field : field_of_name(one.name, header, input));
  std::vector<std::size_t> sorted = fields;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw usage_error(fmt::format("{}: {} names column {} twice", input, option_, *twice + 1));
  }
  return named(fields, header);
}

}  // namespace fanin::cli
