// SPDX-License-Identifier: Apache-2.0
#include "cli/input/text_parser.hpp"

namespace fanin::cli {

namespace {

std::variant<word_parser, csv_parser> parser_of(const text_layout& layout) {
  if (layout.csv) return csv_parser(layout);
  return word_parser(layout);
}

}  // namespace

text_parser::text_parser(const text_layout& layout, std::optional<element_type> type, std::string name)
    : out_(type, layout.skip_missing, std::move(name)), parser_(parser_of(layout)) {}

std::size_t text_parser::parse(std::string_view text, bool last) {
  std::size_t mark = 0;
  if (out_.consumed() == 0) {
    if (!last && text.size() < byte_order_mark.size()) return 0;
    if (text.starts_with(byte_order_mark)) {
      mark = byte_order_mark.size();
      out_.pass_mark();
    }
    text.remove_prefix(mark);
  }
  const std::size_t done = std::visit([&](auto& parser) { return parser.parse(text, last, out_); }, parser_);
  out_.consume(done);
  return mark + done;
}

bool text_parser::knows_columns() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr || csv->knows_columns();
}

const record_keys* text_parser::keys() const noexcept {
  const auto* const csv = std::get_if<csv_parser>(&parser_);
  return csv == nullptr ? nullptr : &csv->keys();
}

}  // namespace fanin::cli
