// SPDX-License-Identifier: Apache-2.0
// The numbers of text that arrives in pieces, and where in the text its parser is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/element_lines.hpp"
#include "cli/input/inferred_number.hpp"
#include "cli/input/number.hpp"
#include "cli/input/text_layout.hpp"

namespace fanin::cli {

/// Collects the numbers that a parser finds, by columns. Offsets are offsets in the current piece. Errors name the
/// line and the byte in the line, from 1.
class text_numbers {
 public:
  /// There is one column without a name. Without a type each column has its own type: see read_inferred(). `name`
  /// is the name of the input, for messages.
  text_numbers(std::optional<element_type> type, const text_layout& layout, std::string name);

  const std::string& name() const noexcept { return name_; }
  std::vector<column_values>& columns() noexcept { return columns_; }
  /// `number` counts from 1, and is 0 in plain text.
  void add_column(std::string name = {}, std::string heading = {}, std::size_t number = 0) {
    columns_.push_back(
        {.name = std::move(name), .heading = std::move(heading), .number = number, .type = first_type_});
  }
  /// The character between words, for messages.
  void set_delimiter(char delimiter) { delimiter_ = delimiter; }
  /// Removes the elements of the columns.
  void clear();

  /// Whether a word is a number of any type, be it complex or out of range.
  bool is_number(std::string_view word) const;
  /// Whether a word is a number of digits alone.
  bool is_integer(std::string_view word) const;
  /// Whether a word stands for a missing number, whatever becomes of such words.
  bool is_missing(std::string_view word) const;

  std::uint64_t consumed() const noexcept { return consumed_; }
  std::uint64_t line() const noexcept { return line_; }
  /// The next piece begins `bytes` bytes behind the one at hand.
  void consume(std::size_t bytes) { consumed_ += bytes; }
  /// The text has a byte order mark, which does not belong to the line.
  void pass_mark() { line_begin_ = consumed_ += byte_order_mark.size(); }
  /// Takes note that `lines` line ends are passed. The last of them is before the offset `next_begin`.
  void pass_line(std::size_t next_begin, std::size_t lines = 1) {
    if (keeps_lines_) keep_line(line_ + lines);
    line_ += lines;
    line_begin_ = consumed_ + next_begin;
  }
  /// The text ends, perhaps within a line.
  void end_text() {
    if (keeps_lines_) keep_line(line_);
  }
  /// The lines of the elements so far, without elements of a line that has not ended. Null unless lines are kept.
  const element_lines* lines() const noexcept { return keeps_lines_ ? &lines_ : nullptr; }
  /// Line ends inside quotes are passed. A message about a byte of the same record counts from the record's begin.
  void pass_quoted_lines(std::size_t lines) { line_ += lines; }

  /// Appends the number that `word` is, or counts it as missing. `begin` is the offset of its field. Returns the
  /// fault of the word. refuse() makes its message.
  std::errc append(std::string_view word, std::size_t begin, column_values& to) const {
    check_length(word.size(), longest_word, begin);
    const std::errc code = infers_plain_ ? read_inferred(word, to) : read_as_said(word, to);
    return code == std::errc() ? code : append_other(word, code, to);
  }
  /// An empty field. @throws bad_data unless missing numbers are left out
  void append_empty(std::size_t begin, column_values& to) const;
  /// @throws bad_data
  [[noreturn]] void refuse(std::errc code, std::string_view word, std::size_t begin, const column_values& to,
                           std::string_view advice) const;
  void check_length(std::size_t bytes, std::size_t longest, std::size_t begin) const {
    if (bytes > longest) fail_length(longest, begin);
  }
  /// @throws bad_data
  [[noreturn]] void fail(std::size_t at, const std::string& what) const;

 private:
  std::errc read(std::string_view word, column_values& to) const {
    return read_ == nullptr ? read_inferred(word, to) : read_(word, to.bytes, to.rounded);
  }
  /// Reads a word as a number of a type that was said, or in a format that is not plain, or leaves it out.
  std::errc read_as_said(std::string_view word, column_values& to) const;
  /// Appends a word that was not read: a number with an exponent of Fortran, or a missing number.
  std::errc append_other(std::string_view word, std::errc code, column_values& to) const;
  /// The word as from_chars() reads numbers; the empty word if it is no number in the format.
  std::string standard_form(std::string_view word) const;
  void keep_line(std::uint64_t next_line);
  [[noreturn]] void fail_length(std::size_t longest, std::size_t begin) const;

  element_type type_;        ///< for messages
  element_type first_type_;  ///< the type of a column without numbers
  number_reader read_;       ///< null: read_inferred()
  number_format format_;
  char delimiter_ = ' ';
  bool is_plain_, infers_plain_, skip_missing_, keeps_lines_;
  std::string name_;
  std::vector<column_values> columns_;
  element_lines lines_;
  std::uint64_t cleared_ = 0;     ///< elements of the first column that clear() removed
  std::uint64_t first_line_ = 1;  ///< the line of the current record, if lines are kept
  std::uint64_t consumed_ = 0;    ///< bytes of earlier pieces
  std::uint64_t line_ = 1;
  std::uint64_t line_begin_ = 0;  ///< offset of the line's first byte in the whole input
};

/// The offset after the line end at `at`. If the text ends with "\r" and more text follows, the result is nothing,
/// because that text may begin with "\n".
inline std::optional<std::size_t> after_line_end(std::string_view text, std::size_t at, bool last) {
  if (text[at] == '\n') return at + 1;
  if (at + 1 == text.size()) return last ? std::optional(at + 1) : std::nullopt;
  return text[at + 1] == '\n' ? at + 2 : at + 1;
}

/// The offset behind the line that begins at `at` and is a comment; `at` if it is none. Nothing: more text has to
/// tell.
std::optional<std::size_t> after_comment(std::string_view text, std::size_t at, bool last, std::optional<char> mark);

}  // namespace fanin::cli
