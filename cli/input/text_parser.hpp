// SPDX-License-Identifier: Apache-2.0
// Numbers from text: plain text, where every word is a number, and CSV (RFC 4180), where some columns are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/csv_parser.hpp"
#include "cli/input/text_layout.hpp"
#include "cli/input/text_numbers.hpp"
#include "cli/input/word_parser.hpp"

namespace fanin::cli {

/// Turns text that arrives in pieces into elements. A line ends with "\n", "\r\n" or "\r". Errors name
/// the line and the byte in it, from 1.
class text_parser {
 public:
  /// Without a type each column has its own type, which column_values::type says. `name` is for messages.
  /// @throws usage_error if the choice of columns makes no sense
  text_parser(const text_layout& layout, std::optional<element_type> type, std::string name);

  /// Parses the complete words or fields at the front of `text` and appends their values to columns(). Returns the
  /// number of bytes consumed; the next call has to begin with the rest. With `last`, no more text follows, and
  /// parse() consumes all of it.
  /// @throws bad_data (not a number, out of range, too long, an empty field, records of different numbers of
  /// fields), usage_error (no such column)
  std::size_t parse(std::string_view text, bool last);

  /// The values found since clear(). Until knows_columns() they may be other columns.
  std::vector<column_values>& columns() noexcept { return out_.columns(); }
  void clear() { out_.clear(); }
  /// Whether the number and the names of columns() are final. A list of columns, or all, needs the header or the
  /// first record.
  bool knows_columns() const noexcept;
  /// Whether a record or a header was found so far; true of plain text.
  bool has_record() const noexcept;
  /// The keys of the records, or null of plain text.
  const record_keys* keys() const noexcept;
  /// The delimiter between fields of CSV. If the records decide it, it is known once knows_columns() is true or an
  /// element was found.
  char delimiter() const noexcept;
  /// Whether columns without a number are left out. Otherwise they are empty.
  bool leaves_out_columns() const noexcept;
  /// See text_numbers::lines().
  const element_lines* lines() const noexcept { return out_.lines(); }

 private:
  /// The size of the byte order mark at the front of the text. Nothing if more text is needed to tell. @throws
  /// bad_data if it is a mark of UTF-16
  std::optional<std::size_t> begin(std::string_view text, bool last);
  /// Returns the offset behind the lines at the front that are skipped.
  std::size_t skip_lines(std::string_view text, bool last);

  text_numbers out_;
  std::variant<word_parser, csv_parser> parser_;
  std::uint64_t lines_to_skip_;
};

}  // namespace fanin::cli
