// SPDX-License-Identifier: Apache-2.0
#include "cli/input/text_parser.hpp"

#include <fmt/format.h>

#include "cli/kit/errors.hpp"

namespace fanin::cli {

namespace {

std::variant<word_parser, csv_parser> parser_of(const text_layout& layout) {
  if (layout.csv) return csv_parser(layout);
  return word_parser(layout);
}

}  // namespace

text_parser::text_parser(const text_layout& layout, std::optional<element_type> type, std::string name)
    : out_(type, layout, std::move(name)), parser_(parser_of(layout)), lines_to_skip_(layout.skip_lines) {}

std::optional<std::size_t> text_parser::begin(std::string_view text, bool last) {
  if (out_.consumed() > 0) return 0;
  constexpr std::string_view line_of_excel = "sep=";
  if (!last && text.size() < byte_order_mark.size() + line_of_excel.size()) return std::nullopt;
  if (const std::string_view name = utf16_name(text); !name.empty()) {
    throw bad_data(fmt::format("{}: the text is UTF-16; 'iconv -f {} -t UTF-8' converts it", out_.name(), name));
  }
  const std::size_t mark = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  if (lines_to_skip_ == 0 && text.substr(mark).starts_with(line_of_excel)) {
    throw bad_data(fmt::format("{}: line 1 names the delimiter for Excel; --skip-lines 1 skips it", out_.name()));
  }
  if (mark > 0) out_.pass_mark();
  return mark;
}

std::size_t text_parser::skip_lines(std::string_view text, bool last) {
  std::size_t at = 0;
  for (; lines_to_skip_ > 0 && at < text.size(); --lines_to_skip_) {
    const std::size_t end = text.find_first_of("\r\n", at);
    std::optional<std::size_t> next = last ? std::optional(text.size()) : std::nullopt;
    if (end != text.npos) next = after_line_end(text, end, last);
    if (!next) break;
    at = *next;
    out_.pass_line(at);
  }
  out_.consume(at);
  return at;
}

std::size_t text_parser::parse(std::string_view text, bool last) {
  const std::optional<std::size_t> mark = begin(text, last);
  if (!mark) return 0;
  text.remove_prefix(*mark);
  const std::size_t skipped = skip_lines(text, last);
  text.remove_prefix(skipped);
  std::size_t done = 0;
  if (lines_to_skip_ == 0 || last) {
    done = std::visit([&](auto& parser) { return parser.parse(text, last, out_); }, parser_);
  }
  if (last) out_.end_text();
  out_.consume(done);
  return *mark + skipped + done;
}

bool text_parser::knows_columns() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr || csv->knows_columns();
}

bool text_parser::has_record() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr || csv->has_record();
}

char text_parser::delimiter() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr ? ',' : csv->delimiter();
}

bool text_parser::leaves_out_columns() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv != nullptr && csv->takes_every_column();
}

const record_keys* text_parser::keys() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr ? nullptr : &csv->keys();
}

}  // namespace fanin::cli
