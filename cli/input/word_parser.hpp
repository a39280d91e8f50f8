// SPDX-License-Identifier: Apache-2.0
// Plain text, where every word is a number.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cli/input/text_numbers.hpp"

namespace fanin::cli {

/// text_parser calls parse(), which has the contract of text_parser::parse(), with the rest of a piece.
class word_parser {
 public:
  explicit word_parser(const text_layout& layout)
      : delimiter_(layout.delimiter),
        comment_(layout.comment),
        may_be_list_(!layout.delimiter && layout.numbers.is_plain()) {}

  std::size_t parse(std::string_view text, bool last, text_numbers& out);

 private:
  /// Whether the text begins with a line that is one word and may be a name, and a line that is one number.
  static bool is_column(std::string_view text, const text_numbers& out);
  /// Appends the number that text[begin, end) is.
  void append(std::string_view text, std::size_t begin, std::size_t end, text_numbers& out) const;
  /// A delimiter or a line end at `at`: the field before it may have no word.
  void end_field(std::size_t at, text_numbers& out);
  void end_line(std::size_t at, text_numbers& out);

  std::optional<char> delimiter_, comment_;
  bool may_be_list_;            ///< whether a comma in a word may separate numbers
  bool has_delimiter_ = false;  ///< whether the line has had one
  bool has_word_ = false;       ///< whether the field has a word
};

}  // namespace fanin::cli
