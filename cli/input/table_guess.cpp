// SPDX-License-Identifier: Apache-2.0
#include "cli/input/table_guess.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::string_view common_delimiters = ",;\t|";

/// The records that end in the text, without blank lines and comments. Quotes are taken to be closed.
std::vector<std::string_view> records_of(std::string_view text, bool is_all, const text_layout& layout) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<std::string_view> records;
  std::size_t begin = 0;
  std::uint64_t lines_to_skip = layout.skip_lines;
  bool in_quotes = false;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const bool ends = at == text.size() ? is_all : ends_line(text[at]) && (!in_quotes || lines_to_skip > 0);
    if (at < text.size() && text[at] == '"' && lines_to_skip == 0) in_quotes = !in_quotes;
    if (!ends) continue;
    const std::string_view record = text.substr(begin, at - begin), words = trimmed(record);
    const bool has_cr_lf = text.substr(std::min(at, text.size())).starts_with("\r\n");
    begin = at + (has_cr_lf ? 2 : 1);
    at = begin - 1;
    if (lines_to_skip > 0) {
      --lines_to_skip;
    } else if (!words.empty() && words[0] != layout.comment) {
      records.push_back(record);
    }
  }
  return records;
}

std::vector<std::string_view> fields_of(std::string_view record, char delimiter) {
  if (delimiter == ' ') record = trimmed(record);
  std::vector<std::string_view> fields;
  bool in_quotes = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= record.size(); ++at) {
    if (at < record.size() && record[at] == '"') in_quotes = !in_quotes;
    if (at < record.size() && (!separates_fields(record[at], delimiter) || in_quotes)) continue;
    if (delimiter == ' ' && begin == at) {  // one more blank
      ++begin;
      continue;
    }
    std::string_view field = trimmed(record.substr(begin, at - begin));
    if (field.size() > 1 && field.starts_with('"') && field.ends_with('"')) field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    begin = at + 1;
  }
  return fields;
}

/// Whether the delimiter gives each record as many fields, and more than one.
bool separates(char delimiter, const std::vector<std::string_view>& records) {
  const std::size_t fields = records.empty() ? 0 : fields_of(records[0], delimiter).size();
  return fields > 1 && std::ranges::all_of(
                           records, [&](std::string_view one) { return fields_of(one, delimiter).size() == fields; });
}

/// Whether a field is a number with a decimal comma, or with commas between thousands.
bool has_number_with_comma(std::string_view field, const text_numbers& numbers) {
  const auto is_number = [&](const number_format& format) {
    const std::optional<std::string> standard = in_plain_format(field, format);
    return standard && numbers.is_number(*standard);
  };
  return field.find(',') != field.npos && (is_number({.decimal = ','}) || is_number({.thousands = ','}));
}

/// Whether the character belongs to numbers unless it is said to be the delimiter. A number with thousands stands in
/// quotes if their character also separates fields.
bool is_in_numbers(char one, const std::vector<std::string_view>& records, const text_layout& layout) {
  if (layout.delimiter) return false;
  const auto has_quotes = [](std::string_view record) { return record.find('"') != record.npos; };
  return one == layout.numbers.decimal ||
         (one == layout.numbers.thousands && std::ranges::none_of(records, has_quotes));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; }

bool is_word(std::string_view field, const text_numbers& numbers) {
  return !numbers.is_number(field) && !numbers.is_missing(field) && std::ranges::any_of(field, is_letter);
}

/// The first of the delimiters that separates the fields. Blanks also are in lists and in names, so that they are a
/// delimiter only below a record of words.
std::optional<char> first_that_separates(const std::vector<std::string_view>& records, const text_layout& layout,
                                         const text_numbers& numbers) {
  const std::string said = layout.delimiter ? std::string(1, *layout.delimiter) : std::string(common_delimiters);
  for (const char one : said) {
    if (one != layout.comment && !is_in_numbers(one, records, layout) && separates(one, records)) return one;
  }
  const bool may_be_blank = !layout.delimiter && !is_in_numbers(' ', records, layout) && separates(' ', records);
  const auto is_name = [&](std::string_view field) { return is_word(field, numbers); };
  return may_be_blank && std::ranges::all_of(fields_of(records[0], ' '), is_name) ? std::optional(' ') : std::nullopt;
}

}  // namespace

char guess_delimiter(std::string_view text, bool is_all, const text_layout& layout, const text_numbers& numbers) {
  const std::vector<std::string_view> records = records_of(text, is_all, layout);
  const std::optional<char> found = first_that_separates(records, layout, numbers);
  if (!found) return is_in_numbers(',', records, layout) ? ';' : ',';
  if (found != ',') return *found;
  for (const char other : common_delimiters.substr(1)) {
    if (!separates(other, records)) continue;
    for (const std::string_view record : records) {
      const std::vector<std::string_view> fields = fields_of(record, other);
      if (std::ranges::none_of(fields, [&](auto one) { return has_number_with_comma(one, numbers); })) continue;
      throw usage_error(fmt::format("{}: either ',' or '{}' may separate the fields; say which by --delimiter",
                                    numbers.name(), printable(std::string_view(&other, 1))));
    }
  }
  return ',';
}

bool is_table(std::string_view text, bool is_all, const text_layout& layout, const text_numbers& numbers) {
  if (text.find('\0') != text.npos) return false;
  const std::vector<std::string_view> records = records_of(text, is_all, layout);
  const std::optional<char> delimiter = first_that_separates(records, layout, numbers);
  if (records.size() < 2 || !delimiter) return false;
  bool has_number = false, has_word = false;
  for (const std::string_view record : records) {
    for (const std::string_view field : fields_of(record, *delimiter)) {
      has_number = has_number || numbers.is_number(field);
      has_word = has_word || is_word(field, numbers);
    }
  }
  if (!has_number || has_word) return has_number;
  const bool is_list = layout.delimiter || *delimiter == '\t';
  const auto has_comma = [&](std::string_view one) { return has_number_with_comma(trimmed(one), numbers); };
  return !is_list && !std::ranges::all_of(records, has_comma);
}

}  // namespace fanin::cli
