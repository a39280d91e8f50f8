// SPDX-License-Identifier: Apache-2.0
// The way in which text has numbers, and the values that a parser finds in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/number_format.hpp"
#include "cli/input/rounded_numbers.hpp"

namespace fanin::cli {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The name for iconv, if a text is UTF-16 by its first four bytes: it has the byte order mark, or begins with two
/// characters of ASCII. Otherwise nothing.
inline std::string_view utf16_name(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "UTF-16";
  const auto is_ascii = [&](std::size_t i) { return text[i] > 0 && text[i] < 0x7f; };
  if (text.size() < 4) return {};
  if (is_ascii(0) && text[1] == 0 && is_ascii(2) && text[3] == 0) return "UTF-16LE";
  if (text[0] == 0 && is_ascii(1) && text[2] == 0 && is_ascii(3)) return "UTF-16BE";
  return {};
}

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline bool ends_line(char c) { return c == '\n' || c == '\r'; }
/// Whether a character separates fields. A blank as the delimiter stands for any number of blanks and tabs.
inline bool separates_fields(char c, char delimiter) { return c == delimiter || (delimiter == ' ' && c == '\t'); }

/// The longest word of plain text, and the longest number and name of CSV, in bytes. A decimal number that is
/// exactly an f64 has up to 1077.
inline constexpr std::size_t longest_word = 4096;
/// The longest field of CSV in bytes. The columns that are not asked for may contain any text.
inline constexpr std::size_t longest_field = std::size_t{1} << 20;
/// The most names in a header of CSV, which the parser keeps in memory, and the most columns that are read.
inline constexpr std::size_t most_names = std::size_t{1} << 16;

/// The columns of CSV where `column` says none.
enum class default_columns : std::uint8_t {
  only,         ///< the only column of numbers
  every,        ///< every column of numbers; a column that is the only one of its table has no name
  every_named,  ///< every column of numbers
};

struct text_layout {
  bool csv = false;
  /// The character between fields. In plain text, white space separates numbers, too; a line with a delimiter has a
  /// number on both sides of each, unless the delimiter is white space. By default the records of CSV tell, see
  /// table_guess.hpp; plain text then has no delimiter.
  std::optional<char> delimiter = {};
  /// CSV: the columns, see column_choice.
  std::string column = {};
  /// CSV: the first record names the columns. A column given by name implies it.
  bool header = false;
  /// Whether missing numbers (see is_missing()) are left out. Otherwise a missing number is an error.
  bool skip_missing = false;
  /// CSV: the columns, if `column` is empty.
  default_columns columns = default_columns::only;
  /// CSV: the columns of the key of each record, see column_choice; empty: records have no keys.
  std::string by = {};
  /// CSV, without `header`: whether the first record is a header is told by the records, see header_guess.hpp.
  bool guess_header = false;
  number_format numbers = {};
  /// The lines above the first one that is read.
  std::uint64_t skip_lines = 0;
  /// The lines that begin with this character, perhaps behind white space, are passed over.
  std::optional<char> comment = {};
  /// Whether the lines of the elements are kept, see element_lines.hpp.
  bool keep_lines = false;
};

/// The numbers of a column, or of plain text.
struct column_values {
  std::string name = {};                  ///< see chosen_column; empty in plain text
  std::string heading = {};               ///< see chosen_column
  std::size_t number = 0;                 ///< the number of the column, from 1; 0 in plain text
  std::vector<std::byte> bytes = {};      ///< the elements that a parser has read since they were cleared
  std::uint64_t missing = 0;              ///< the numbers left out since the beginning of the input
  element_type type = element_type::f64;  ///< the type of `bytes`; see text_numbers where it is not fixed
  bool has_negative = false;              ///< whether an integer since the beginning of the input was negative
  rounded_numbers rounded = {};           ///< since the beginning of the input; see input_column::rounded_as()
};

}  // namespace fanin::cli
