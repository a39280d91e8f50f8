// SPDX-License-Identifier: Apache-2.0
#include "cli/input/word_parser.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/input/number.hpp"

namespace fanin::cli {

std::size_t word_parser::parse(std::string_view text, bool last, text_numbers& out) {
  const auto separates = [this](char c) { return is_space(c) || c == delimiter_; };
  const int comment = comment_ ? static_cast<unsigned char>(*comment_) : -1;
  std::size_t at = 0;
  while (at < text.size()) {
    if (ends_line(text[at])) {
      const std::optional<std::size_t> next = after_line_end(text, at, last);
      if (!next) break;
      end_line(at, out);
      at = *next;
      out.pass_line(at);
      continue;
    }
    if (separates(text[at])) {
      if (!is_space(text[at])) end_field(at, out);
      ++at;
      continue;
    }
    if (static_cast<unsigned char>(text[at]) == comment && !has_word_ && !has_delimiter_) {
      const std::optional<std::size_t> next = after_comment(text, at, last, comment_);
      if (!next) break;
      at = *next;
      out.pass_line(at);
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && !separates(text[end])) ++end;
    out.check_length(end - at, longest_word, at);
    if (end == text.size() && !last) break;
    append(text, at, end, out);
    has_word_ = true;
    at = end;
  }
  if (last) end_line(at, out);
  return at;
}

bool word_parser::is_column(std::string_view text, const text_numbers& out) {
  std::size_t lines = 0;
  while (!text.empty() && lines < 2) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const bool may_be_name = std::string_view("0123456789+-.,").find(line[0]) == std::string_view::npos;
    const bool is_number = out.is_number(line);
    if (std::ranges::any_of(line, is_space) || (lines == 0 ? is_number || !may_be_name : !is_number)) return false;
    ++lines;
  }
  return lines == 2;
}

void word_parser::append(std::string_view text, std::size_t begin, std::size_t end, text_numbers& out) const {
  const std::string_view word = text.substr(begin, end - begin);
  const std::errc code = out.append(word, begin, out.columns()[0]);
  if (code == std::errc()) return;
  const std::size_t separator = may_be_list_ ? word.find_first_of(",;|") : word.npos;
  const bool perhaps_header = out.line() == 1 && is_column(text.substr(begin), out);
  out.refuse(code, word, begin, out.columns()[0],
             separator != word.npos
                 ? fmt::format("; if '{0}' separates numbers, say --delimiter '{0}' or --format csv", word[separator])
             : perhaps_header ? "; if line 1 names the column, say --format csv --header"
                              : "");
}

void word_parser::end_field(std::size_t at, text_numbers& out) {
  if (!has_word_) out.append_empty(at, out.columns()[0]);
  has_word_ = false;
  has_delimiter_ = true;
}

void word_parser::end_line(std::size_t at, text_numbers& out) {
  if (has_delimiter_) end_field(at, out);
  has_word_ = false;
  has_delimiter_ = false;
}

}  // namespace fanin::cli
