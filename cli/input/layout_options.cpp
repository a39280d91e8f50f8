// SPDX-License-Identifier: Apache-2.0
#include "cli/input/layout_options.hpp"

#include <string>

#include <fmt/format.h>

#include "cli/input/number.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr std::string_view of_lines = "\r\n\"", of_numbers = "0123456789+-\r\n\"";

/// The value of an option: one character, and none of `others`. Nothing if the option is not given.
std::optional<char> character(std::string_view option, const std::string& value, std::string_view others,
                              std::string_view meant) {
  if (value.empty()) return std::nullopt;
  if (value.size() == 1 && others.find(value[0]) == others.npos) return value[0];
  throw usage_error(fmt::format("{} is {}, not '{}'", option, meant, printable(value)));
}

std::optional<char> delimiter_of(const input_options& arguments, std::string_view name) {
  if (arguments.delimiter.empty()) return extension(name) == ".tsv" ? std::optional('\t') : std::nullopt;
  if (arguments.delimiter == "\\t" || arguments.delimiter == "tab") return '\t';
  return character("--delimiter", arguments.delimiter, of_lines, "one character or 'tab'");
}

number_format numbers_of(const input_options& arguments) {
  number_format numbers;
  if (!arguments.decimal.empty() && arguments.decimal != "," && arguments.decimal != ".") {
    throw usage_error(fmt::format("--decimal is a comma or a point, not '{}'", printable(arguments.decimal)));
  }
  if (arguments.decimal == ",") numbers.decimal = ',';
  numbers.can_skip = arguments.can_skip;
  numbers.thousands = character("--thousands", arguments.thousands, of_numbers,
                                "one character that is neither a digit, a sign nor a quote");
  if (numbers.thousands == numbers.decimal) {
    throw usage_error(
        fmt::format("--thousands and the decimal character are both '{}'{}", numbers.decimal,
                    numbers.decimal == '.' ? "; if the comma is the decimal character, say --decimal ," : ""));
  }
  if (arguments.missing_words.empty()) return numbers;
  for (const std::string& word : split(arguments.missing_words, ','))
    numbers.missing_words.emplace_back(trimmed(word));
  return numbers;
}

/// A character that begins no number, also none that is written as nan or inf, and separates nothing.
std::optional<char> comment_of(const input_options& arguments, std::optional<char> delimiter,
                               const number_format& numbers) {
  const std::optional<char> comment =
      character("--comment", arguments.comment, of_numbers, "one character that no number can begin with");
  if (!comment) return comment;
  const bool is_letter = (*comment >= 'a' && *comment <= 'z') || (*comment >= 'A' && *comment <= 'Z');
  if (is_letter || is_space(*comment) || *comment == '.' || *comment == ',' || comment == delimiter ||
      comment == numbers.thousands) {
    throw usage_error(fmt::format(
        "--comment '{}' could begin a number or separate fields; choose another character, such as '#'", *comment));
  }
  return comment;
}

}  // namespace

text_layout layout_of(const input_options& arguments, std::string_view name) {
  const std::optional<char> delimiter = delimiter_of(arguments, name);
  const number_format numbers = numbers_of(arguments);
  return {.delimiter = delimiter,
          .column = arguments.column,
          .header = arguments.header,
          .skip_missing = skips_missing(arguments),
          .columns = arguments.columns,
          .by = arguments.by,
          .guess_header = !arguments.header && !arguments.no_header,
          .numbers = numbers,
          .skip_lines = arguments.skip_lines,
          .comment = comment_of(arguments, delimiter, numbers),
          .keep_lines = arguments.keep_lines};
}

void check_plain_text(const text_layout& layout) {
  const auto refuse = [](bool cuts, std::string_view option) {
    if (cuts)
      throw usage_error(fmt::format("{} is a character that also separates the numbers; choose another one", option));
  };
  const std::optional<char> thousands = layout.numbers.thousands;
  refuse(thousands && (is_space(*thousands) || thousands == layout.delimiter), "--thousands");
  refuse(layout.numbers.decimal == layout.delimiter, "--decimal");
}

}  // namespace fanin::cli
