// SPDX-License-Identifier: Apache-2.0
#include "cli/input/text_parser.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

constexpr const char* empty_field = "an empty field";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool ends_line(char c) { return c == '\n' || c == '\r'; }

// The offset after the line end at `at`. If the text ends with "\r" and more text follows, the result is nothing,
// because that text may begin with "\n".
std::optional<std::size_t> after_line_end(std::string_view text, std::size_t at, bool last) {
  if (text[at] == '\n') return at + 1;
  if (at + 1 == text.size()) return last ? std::optional(at + 1) : std::nullopt;
  return text[at + 1] == '\n' ? at + 2 : at + 1;
}

// from_chars reports underflow and overflow by the same code. Only an overflow is an error; strtod() gives the value
// after an underflow.
template <std::floating_point T>
bool finish_out_of_range(std::string_view word, T& value) {
  const std::string copy(word);
  if constexpr (std::same_as<T, float>) {
    value = std::strtof(copy.c_str(), nullptr);
  } else {
    value = std::strtod(copy.c_str(), nullptr);
  }
  return std::isfinite(value);
}
template <std::integral T>
bool finish_out_of_range(std::string_view, T&) {
  return false;
}

template <class T>
std::errc read_value(std::string_view word, T& value) {
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return std::errc::invalid_argument;
  if (code == std::errc::result_out_of_range && finish_out_of_range(word, value)) return {};
  return code;
}
/// Of the floats next to a number, the one with an odd mantissa is rounded to fewer bits as the number itself is.
template <narrow_float T>
std::errc read_value(std::string_view word, T& value) {
  double wide = 0;
  if (const std::errc code = read_value(word, wide); code != std::errc()) return code;
  const std::string copy(word);
  const int mode = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  const float low = std::strtof(copy.c_str(), nullptr);
  std::fesetround(FE_UPWARD);
  const float high = std::strtof(copy.c_str(), nullptr);
  std::fesetround(mode);
  value = T((std::bit_cast<std::uint32_t>(low) & 1) != 0 ? low : high);
  return std::isinf(value) && std::isfinite(wide) ? std::errc::result_out_of_range : std::errc();
}

template <class T>
std::errc read_number(std::string_view word, std::vector<std::byte>& out) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  T value{};
  if (const std::errc code = read_value(word, value); code != std::errc()) return code;
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
  return {};
}

std::errc read_number(element_type type, std::string_view word, std::vector<std::byte>& out) {
  return with_element(type, [&]<class T>() { return read_number<T>(word, out); });
}

}  // namespace

text_parser::text_parser(text_layout layout, element_type type, std::string name)
    : layout_(std::move(layout)), type_(type), name_(std::move(name)) {
  const std::string& column = layout_.column;
  const char* const column_end = column.data() + column.size();
  const auto [end, code] = std::from_chars(column.data(), column_end, wanted_);
  by_name_ = !column.empty() && (code != std::errc() || end != column_end);
  if (!column.empty() && !by_name_ && wanted_-- == 0) throw usage_error("--column counts from 1");
  if (by_name_) wanted_ = 0;
  in_header_ = layout_.csv && (layout_.header || by_name_);
  if (layout_.csv && !layout_.delimiter) layout_.delimiter = ',';
}

std::size_t text_parser::parse(std::string_view text, bool last, std::vector<std::byte>& out) {
  std::size_t mark = 0;
  if (consumed_ == 0) {
    if (!last && text.size() < byte_order_mark.size()) return 0;
    if (text.starts_with(byte_order_mark)) mark = byte_order_mark.size();
    consumed_ = line_begin_ = mark;
    text.remove_prefix(mark);
  }
  const std::size_t done = layout_.csv ? parse_records(text, last, out) : parse_words(text, last, out);
  consumed_ += done;
  return mark + done;
}

std::size_t text_parser::parse_words(std::string_view text, bool last, std::vector<std::byte>& out) {
  const auto separates = [this](char c) { return is_space(c) || c == layout_.delimiter; };
  std::size_t at = 0;
  while (at < text.size()) {
    if (ends_line(text[at])) {
      const std::optional<std::size_t> next = after_line_end(text, at, last);
      if (!next) break;
      end_line_of_words(at);
      at = *next;
      new_line(at);
      continue;
    }
    if (separates(text[at])) {
      if (!is_space(text[at])) end_field_of_words(at);
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !separates(text[end])) ++end;
    check_length(end - at, longest_word, at);
    if (end == text.size() && !last) break;
    std::string_view word = text.substr(at, end - at);
    if (!layout_.delimiter && word.ends_with(',')) word.remove_suffix(1);
    if (!word.empty()) append_number(word, at, out);
    has_word_ = true;
    at = end;
  }
  if (last) end_line_of_words(at);
  return at;
}

void text_parser::end_field_of_words(std::size_t at) {
  if (!has_word_) fail(at, empty_field);
  has_word_ = false;
  ++field_index_;
}

void text_parser::end_line_of_words(std::size_t at) {
  if (field_index_ > 0) end_field_of_words(at);
  has_word_ = false;
  field_index_ = 0;
}

std::size_t text_parser::parse_records(std::string_view text, bool last, std::vector<std::byte>& out) {
  std::size_t at = 0;
  field found;
  while (at < text.size() || (last && field_index_ > 0)) {
    if (!next_field(text, at, last, found)) break;
    const bool blank_line =
        found.ends_record && field_index_ == 0 && trimmed(text.substr(at, found.end - at)).empty();
    if (!blank_line && in_header_)
      header_field(found, at);
    else if (!blank_line)
      data_field(found, at, out);
    ++field_index_;
    if (found.ends_record) {
      field_index_ = 0;
      new_line(found.end);
    }
    at = found.end;
  }
  return at;
}

bool text_parser::next_field(std::string_view text, std::size_t begin, bool last, field& found) {
  if (begin < text.size() && text[begin] == '"') return quoted_field(text, begin, last, found);
  std::size_t end = begin;
  while (end < text.size() && text[end] != layout_.delimiter && !ends_line(text[end])) ++end;
  check_length(end - begin, longest_field, begin);
  found.value = text.substr(begin, end - begin);
  return end_field(text, end, last, found);
}

bool text_parser::end_field(std::string_view text, std::size_t at, bool last, field& found) {
  found.ends_record = at == text.size() || ends_line(text[at]);
  std::optional<std::size_t> next = at + 1;
  if (at == text.size()) {
    next = last ? std::optional(at) : std::nullopt;
  } else if (found.ends_record) {
    next = after_line_end(text, at, last);
  }
  found.end = next.value_or(0);
  return next.has_value();
}

bool text_parser::quoted_field(std::string_view text, std::size_t begin, bool last, field& found) {
  unquoted_.clear();
  std::size_t at = begin + 1, lines = 0;
  for (;; ++at) {
    check_length(at - begin, longest_field, begin);
    if (at >= text.size()) {
      if (!last) return false;
      fail(begin, "a quote is not closed");
    }
    if (text[at] == '"') {
      if (at + 1 == text.size() || text[at + 1] != '"') break;  // Pieces are read again where a field may go on.
      ++at;
    }
    if (text[at] == '\n' ? text[at - 1] != '\r' : text[at] == '\r') ++lines;
    unquoted_ += text[at];
  }
  ++at;
  if (!end_field(text, at, last, found)) return false;
  if (!found.ends_record && text[at] != layout_.delimiter) fail(at, "text behind a closing quote");
  found.value = unquoted_;
  line_ += lines;
  return true;
}

void text_parser::header_field(const field& found, std::size_t begin) {
  if (names_.size() == most_names) fail(begin, fmt::format("a header of more than {} names", most_names));
  check_length(found.value.size(), longest_word, begin);
  names_.emplace_back(trimmed(found.value));
  if (!found.ends_record) return;
  if (by_name_) {
    const auto match = std::ranges::find(names_, layout_.column);
    if (match != names_.end() && std::find(match + 1, names_.end(), layout_.column) != names_.end()) {
      throw usage_error(fmt::format("{}: several columns are called '{}'; choose one by its number", name_,
                                    printable(layout_.column)));
    }
    if (match == names_.end()) {
      const std::vector<std::string_view> known(names_.begin(), names_.end());
      throw usage_error(fmt::format("{}: no column is called '{}'{}", name_, printable(layout_.column),
                                    printable(detail::suggestion(layout_.column, known))));
    }
    wanted_ = static_cast<std::size_t>(match - names_.begin());
  }
  end_record(begin);
  in_header_ = false;
}

void text_parser::data_field(const field& found, std::size_t begin, std::vector<std::byte>& out) {
  if (layout_.column.empty() && field_index_ > 0) {
    throw usage_error(fmt::format("{}: line {} has several columns; choose one with --column", name_, line_));
  }
  if (field_index_ == wanted_) append_number(trimmed(found.value), begin, out);
  if (found.ends_record) end_record(begin);
}

void text_parser::end_record(std::size_t begin) {
  const std::size_t fields = field_index_ + 1;
  const auto text = [](std::size_t count) { return fmt::format("{} field{}", count, count == 1 ? "" : "s"); };
  if (fields <= wanted_ && fields_of_record_ == 0) {
    fail(begin, fmt::format("only {}, and --column asks for number {}", text(fields), wanted_ + 1));
  }
  if (fields_of_record_ == 0) fields_of_record_ = fields;
  if (fields == fields_of_record_) return;
  fail(begin, fmt::format("the record has {}, and {}", text(fields),
                          names_.empty() ? fmt::format("the first one {}", fields_of_record_)
                                         : fmt::format("the header names {}", fields_of_record_)));
}

void text_parser::append_number(std::string_view word, std::size_t begin, std::vector<std::byte>& out) const {
  check_length(word.size(), longest_word, begin);
  const std::errc code = read_number(type_, word, out);
  if (code == std::errc()) return;
  if (word.empty()) fail(begin, empty_field);
  const char* const problem =
      code == std::errc::result_out_of_range ? "is out of range for" : "is not a number of type";
  const bool perhaps_header = layout_.csv && line_ == 1 && code == std::errc::invalid_argument;
  const bool perhaps_list = !layout_.csv && !layout_.delimiter && word.find(',') != std::string_view::npos;
  const char* const advice = perhaps_header ? "; if line 1 names the columns, say --header"
                             : perhaps_list ? "; if commas separate numbers, say --delimiter ,"
                                            : "";
  fail(begin, fmt::format("'{}' {} {}{}", printable(word), problem, to_string(type_), advice));
}

void text_parser::check_length(std::size_t bytes, std::size_t longest, std::size_t begin) const {
  if (bytes <= longest) return;
  fail(begin, fmt::format("{} of more than {} bytes", longest == longest_field ? "a field" : "a word", longest));
}

void text_parser::fail(std::size_t at, const std::string& what) const {
  const std::uint64_t offset = consumed_ + at;
  const std::uint64_t byte = offset >= line_begin_ ? offset - line_begin_ + 1 : 1;
  throw bad_data(fmt::format("{}: line {}, byte {}: {}", name_, line_, byte, what));
}

}  // namespace fanin::cli
