// SPDX-License-Identifier: Apache-2.0
#include "cli/input/text_numbers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

text_numbers::text_numbers(std::optional<element_type> type, const text_layout& layout, std::string name)
    : type_(type.value_or(element_type::f64)),
      first_type_(type.value_or(element_type::i64)),
      read_(type_ == element_type::f64 ? nullptr : number_reader_of(type_)),
      format_(layout.numbers),
      is_plain_(format_.is_plain()),
      infers_plain_(is_plain_ && read_ == nullptr),
      skip_missing_(layout.skip_missing),
      keeps_lines_(layout.keep_lines),
      name_(std::move(name)) {
  add_column();
}

void text_numbers::clear() {
  cleared_ += columns_[0].bytes.size() / byte_size(columns_[0].type);
  for (column_values& one : columns_) one.bytes.clear();
}

void text_numbers::keep_line(std::uint64_t next_line) {
  lines_.end_line(first_line_, cleared_ + columns_[0].bytes.size() / byte_size(columns_[0].type));
  first_line_ = next_line;
}

std::string text_numbers::standard_form(std::string_view word) const {
  const std::string found = is_plain_ ? std::string(word) : in_plain_format(word, format_).value_or("");
  return without_d_exponents(found).value_or(found);
}

bool text_numbers::is_number(std::string_view word) const {
  static const number_reader read_any = number_reader_of(element_type::c128);
  std::vector<std::byte> number;
  rounded_numbers rounded;
  return read_any(standard_form(word), number, rounded) != std::errc::invalid_argument;
}

bool text_numbers::is_integer(std::string_view word) const { return cli::is_integer(standard_form(word)); }

bool text_numbers::is_missing(std::string_view word) const {
  return cli::is_missing(word) || std::ranges::find(format_.missing_words, word) != format_.missing_words.end();
}

std::errc text_numbers::read_as_said(std::string_view word, column_values& to) const {
  if (is_plain_) return read(word, to);
  if (std::ranges::find(format_.missing_words, word) != format_.missing_words.end()) return ++to.missing, std::errc();
  const std::optional<std::string> found = in_plain_format(word, format_);
  return found ? read(*found, to) : std::errc::invalid_argument;
}

std::errc text_numbers::append_other(std::string_view word, std::errc code, column_values& to) const {
  if (skip_missing_ && is_missing(word)) return ++to.missing, std::errc();
  const bool may_have_d = code == std::errc::invalid_argument && word.find_first_of("dD") != word.npos;
  return may_have_d ? read(standard_form(word), to) : code;
}

void text_numbers::append_empty(std::size_t begin, column_values& to) const {
  const std::errc code = append({}, begin, to);
  if (code != std::errc()) refuse(code, {}, begin, to, {});
}

namespace {

/// The column by its name or number, for messages; empty in plain text.
std::string column_text(const column_values& column) {
  const std::string number = std::to_string(column.number);
  const std::string& name = column.name.empty() ? column.heading : column.name;
  if (!name.empty() && column.name != number) return fmt::format("column '{}': ", printable(name));
  return column.number == 0 ? "" : fmt::format("column {}: ", number);
}

}  // namespace

void text_numbers::refuse(std::errc code, std::string_view word, std::size_t begin, const column_values& to,
                          std::string_view advice) const {
  const std::string column = column_text(to);
  if (is_missing(word)) advice = format_.can_skip ? "; --missing skip leaves it out" : "";
  if (word.empty()) fail(begin, fmt::format("{}the field is empty{}", column, advice));
  const char* const problem =
      code == std::errc::result_out_of_range ? "is out of range for" : "is not a number of type";
  const bool begins_line = consumed_ + begin == line_begin_;
  const std::string advice_on_word =
      code == std::errc::invalid_argument ? advice_on(word, format_, delimiter_, begins_line) : "";
  fail(begin, fmt::format("{}'{}' {} {}{}{}", column, printable(word), problem, to_string(type_), advice,
                          is_missing(word) ? "" : advice_on_word));
}

void text_numbers::fail_length(std::size_t longest, std::size_t begin) const {
  fail(begin, fmt::format("the {} has more than {} bytes", longest == longest_field ? "field" : "word", longest));
}

void text_numbers::fail(std::size_t at, const std::string& what) const {
  const std::uint64_t offset = consumed_ + at;
  const std::uint64_t byte = offset >= line_begin_ ? offset - line_begin_ + 1 : 1;
  throw bad_data(fmt::format("{}: line {}, byte {}: {}", name_, line_, byte, what));
}

std::optional<std::size_t> after_comment(std::string_view text, std::size_t at, bool last, std::optional<char> mark) {
  if (!mark) return at;
  std::size_t begin = at;
  while (begin < text.size() && is_space(text[begin]) && !ends_line(text[begin])) ++begin;
  if (begin == text.size() && !last) return std::nullopt;
  if (begin == text.size() || text[begin] != mark) return at;
  const std::size_t end = text.find_first_of("\r\n", begin);
  if (end == text.npos) return last ? std::optional(text.size()) : std::nullopt;
  return after_line_end(text, end, last);
}

}  // namespace fanin::cli
