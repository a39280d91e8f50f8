// SPDX-License-Identifier: Apache-2.0
// Numbers from text: plain text, where every word is a number, and CSV (RFC 4180), where one column is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>

namespace fanin::cli {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The longest word of plain text, and the longest number and name of CSV, in bytes. A decimal number that is exactly
/// an f64 has up to 1077.
inline constexpr std::size_t longest_word = 4096;
/// The longest field of CSV in bytes. The columns that are not asked for may contain any text.
inline constexpr std::size_t longest_field = std::size_t{1} << 20;
/// The most names in a header of CSV, which the parser keeps in memory.
inline constexpr std::size_t most_names = std::size_t{1} << 16;

struct text_layout {
  bool csv = false;
  /// The character between fields. In plain text, white space separates numbers, too; a line with a delimiter has a
  /// number on both sides of each, unless the delimiter is white space. By default a comma separates the fields of
  /// CSV; plain text then has no delimiter, and a comma is allowed between a number and the white space.
  std::optional<char> delimiter = {};
  /// CSV: a name from the header, or a number from 1; empty: the only column.
  std::string column = {};
  /// CSV: the first record names the columns. A column given by name implies it.
  bool header = false;
};

/// Turns text that arrives in pieces into elements of one type. A line ends with "\n", "\r\n" or "\r". Errors name
/// the line and the byte in it, from 1.
class text_parser {
 public:
  /// `name` is for messages.
  text_parser(text_layout layout, element_type type, std::string name);

  /// Parses the complete words or fields at the front of `text` and appends their values to `out`, as bytes. Returns
  /// the number of bytes consumed; the next call has to begin with the rest. With `last`, no more text follows, and
  /// parse() consumes all of it.
  /// @throws bad_data (not a number, out of range, too long, an empty field, records of different numbers of fields),
  /// usage_error (no such column)
  std::size_t parse(std::string_view text, bool last, std::vector<std::byte>& out);

 private:
  struct field {
    std::size_t end = 0;     ///< offset after the field and its delimiter
    std::string_view value;  ///< without quotes
    bool ends_record = false;
  };

  std::size_t parse_words(std::string_view text, bool last, std::vector<std::byte>& out);
  /// A delimiter or a line end in plain text at `at`. @throws bad_data if the field before it is empty
  void end_field_of_words(std::size_t at);
  void end_line_of_words(std::size_t at);
  std::size_t parse_records(std::string_view text, bool last, std::vector<std::byte>& out);
  bool next_field(std::string_view text, std::size_t begin, bool last, field& found);
  /// Sets found.end and found.ends_record for a field whose delimiter or line end is at `at`. False: more text has to
  /// tell.
  static bool end_field(std::string_view text, std::size_t at, bool last, field& found);
  bool quoted_field(std::string_view text, std::size_t begin, bool last, field& found);
  void header_field(const field& found, std::size_t begin);
  void data_field(const field& found, std::size_t begin, std::vector<std::byte>& out);
  /// Checks the number of fields of the record whose last field begins at `begin`.
  void end_record(std::size_t begin);
  void append_number(std::string_view word, std::size_t begin, std::vector<std::byte>& out) const;
  void check_length(std::size_t bytes, std::size_t longest, std::size_t begin) const;
  void new_line(std::size_t next_begin) {
    ++line_;
    line_begin_ = consumed_ + next_begin;
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what) const;

  text_layout layout_;
  element_type type_;
  std::string name_;
  std::uint64_t consumed_ = 0;  ///< bytes of earlier calls
  std::uint64_t line_ = 1;
  std::uint64_t line_begin_ = 0;  ///< offset of the line's first byte in the whole input
  std::size_t wanted_ = 0;        ///< the chosen column, from 0
  bool by_name_ = false;
  bool in_header_ = false;
  std::size_t field_index_ = 0;       ///< of the field in its record, or in its line of plain text
  std::size_t fields_of_record_ = 0;  ///< of each record; 0 before the end of the first
  bool has_word_ = false;             ///< plain text: whether the field has a word
  std::vector<std::string> names_;
  std::string unquoted_;
};

}  // namespace fanin::cli
