// SPDX-License-Identifier: Apache-2.0
// Decides by the records of CSV whether the first one names the columns, and which columns are numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/table_guess.hpp"
#include "cli/input/text_numbers.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {

/// Takes the records at the front of a text, and compares the first one with the others, column by column.
class header_guess {
 public:
  /// Records that end further behind than end_of_guess() take no part. It is between these two.
  static constexpr std::size_t most_bytes = most_guessed_bytes, most_bytes_of_long = std::size_t{1} << 24;

  /// `numbers` tells which words are numbers.
  explicit header_guess(const text_numbers& numbers) : numbers_(numbers) {}

  /// The next field of the record at hand, without the quotes that it had if it `is_quoted`.
  void add_field(std::string_view text, bool is_quoted) { record_.push_back({std::string(text), is_quoted}); }
  /// The record at hand ends at the offset `end` of the text.
  void end_record(std::size_t end);
  /// An offset of the text: 16 times as far as the first record, which may be long.
  std::size_t end_of_guess() const noexcept { return end_of_guess_; }
  /// Whether a record has another number of fields than the first one.
  bool is_ragged() const noexcept { return is_ragged_; }
  /// The fields of the first record.
  std::vector<std::string> first_record() const;

  /// The first record is a header if it alone has a name in a column of numbers, or if all of its fields are in
  /// quotes and no other field of such a column is. It may be a header if it alone has text there that looks like a
  /// number, such as 1O. Otherwise it is data if it has no number. If it has a number with a fraction, it may be a
  /// header if a column has text and the first record alone has a fraction in a column of integers; otherwise it is
  /// data. What is left may be a header if a column has text and no text of the first record occurs again; if the
  /// first record alone has integers; if its integers are consecutive, as years and positions are, and one is above
  /// fractions alone or beside text; or if its first field alone is empty and others are integers.
  /// @throws usage_error, which names `input` and the options that decide, if it may be a header
  bool is_header(const std::string& input) const;

  /// A column that is not taken for one of numbers.
  struct other_column {
    std::size_t field = 0;  ///< its place in the record, from 0
    std::string text = {};  ///< its first word that is no number; empty: all of its numbers are missing
  };
  /// The columns that do not consist of numbers. These are columns with a word that is no number and stands for no
  /// missing number, and unless missing numbers are left out, also columns without any number. The first record is
  /// one of the records unless it `has_header`.
  std::vector<other_column> other_columns(bool has_header, bool skips_missing) const;

 private:
  /// A word that stands for a missing number is `missing`, and so is a word of the marks - ? . and * alone: it names
  /// no column.
  enum class kind : std::uint8_t { missing, integer, fraction, text };
  struct field {
    std::string text;
    bool is_quoted;
  };
  /// The field in the first record, and the kinds of the fields below it.
  struct column {
    std::string first_text;
    std::string text;  ///< the first text below
    kind first = kind::missing;
    bool first_is_quoted = false;
    bool has_missing = false, has_integer = false, has_fraction = false, has_text = false, has_quoted = false;
    bool has_first_again = false;

    bool has_text_above_numbers() const { return is_of_numbers() && first == kind::text; }
    bool is_of_numbers() const { return !has_text && (has_integer || has_fraction); }
    bool alone_is_integer() const { return first == kind::integer && has_fraction && !has_integer; }
    bool alone_is_fraction() const { return first == kind::fraction && has_integer && !has_fraction && !has_text; }
  };
  kind kind_of(std::string_view word) const;
  static usage_error doubt(const std::string& input);
  /// Whether a text of the first record is a name, and no number with a fault. A text of digits, signs of currencies
  /// and separators alone is none, and any other text that begins like a number is none beside a number.
  bool is_name(std::string_view text) const;
  bool are_quoted_names() const;
  /// Whether the first record has integers, each larger by 1 than the one before.
  bool has_consecutive_integers() const;

  const text_numbers& numbers_;
  std::vector<field> record_;
  std::vector<column> columns_;
  std::size_t records_ = 0;
  std::size_t end_of_guess_ = most_bytes_of_long;
  bool is_ragged_ = false;
};

}  // namespace fanin::cli
