// SPDX-License-Identifier: Apache-2.0
// CSV (RFC 4180) with some columns of numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/column_choice.hpp"
#include "cli/input/header_guess.hpp"
#include "cli/input/plain_records.hpp"
#include "cli/input/record_keys.hpp"
#include "cli/input/text_numbers.hpp"

namespace fanin::cli {

/// text_parser calls parse(), which has the contract of text_parser::parse(), with the rest of a piece.
class csv_parser {
 public:
  /// @throws usage_error if the choice of columns makes no sense
  explicit csv_parser(const text_layout& layout);

  std::size_t parse(std::string_view text, bool last, text_numbers& out);
  /// Whether the columns of `out` are the final columns of the input.
  bool knows_columns() const noexcept { return choice_.is_one_column() || has_record(); }
  /// Whether a record or a header has ended.
  bool has_record() const noexcept { return fields_of_record_ > 0; }
  /// Whether every column of numbers is chosen.
  bool takes_every_column() const noexcept { return choice_.is_every(names_); }
  char delimiter() const noexcept { return delimiter_; }
  /// The keys of the records that have been parsed. A record has an element in each column whose number is not
  /// missing.
  const record_keys& keys() const noexcept { return keys_; }

 private:
  struct field {
    std::size_t end = 0;     ///< offset after the field and its delimiter
    std::string_view value;  ///< without quotes
    bool ends_record = false;
  };
  struct wanted_column {
    std::size_t field = 0, index = 0;  ///< the places in the record and in the result, from 0
  };

  /// Looks at the first records, and decides what has not been said: the delimiter, whether the first record is a
  /// header, and which columns are numbers. False: more text has to tell.
  /// @throws usage_error if that is in doubt
  bool look_ahead(std::string_view text, bool last, const text_numbers& out);
  /// The first records, as far as they have no fault. Nothing: more text has to tell.
  std::optional<header_guess> first_records(std::string_view text, bool last, const text_numbers& out);
  /// @throws usage_error: see column_choice::check_numbers
  void check_numbers(const std::vector<std::string>& first_record, const text_numbers& out) const;
  /// Parses records without quotes that have as many fields as the first one. Returns the offset after them.
  std::size_t parse_plain_records(std::string_view text, std::size_t at, text_numbers& out);
  bool next_field(std::string_view text, std::size_t begin, bool last, field& found, text_numbers& out);
  /// Sets found.end and found.ends_record for a field whose delimiter or line end is at `at`. False: more text has
  /// to tell.
  bool end_field(std::string_view text, std::size_t at, bool last, field& found) const;
  bool quoted_field(std::string_view text, std::size_t begin, bool last, field& found, text_numbers& out);
  void header_field(const field& found, std::size_t begin, text_numbers& out);
  void choose_columns(text_numbers& out);
  /// Says which columns are left out because they are not numbers. @throws bad_data if all are
  void leave_out_others(const text_numbers& out) const;
  bool is_left_out(std::size_t place) const;
  /// Whether the table may have one column of numbers only.
  bool takes_only_column() const { return layout_.columns == default_columns::only && layout_.column.empty(); }
  /// @throws usage_error, when the columns are known, if the table has several columns of numbers and may not
  void check_only(text_numbers& out) const;
  /// Whether one column is read, and needs no name.
  bool is_lone() const {
    return takes_only_column() ||
           (layout_.columns == default_columns::every && layout_.column.empty() && first_fields_ == 1);
  }
  /// Warns where a number of the choice is the name of another column.
  void note_names(const column_choice& choice, const text_numbers& out) const;
  /// The record at hand ends: so does its key.
  void end_key(text_numbers& out);
  /// Adds a field of the first record, if `all` columns are chosen.
  void add_column(std::size_t begin, text_numbers& out);
  void data_field(const field& found, std::size_t begin, text_numbers& out);
  void append(std::string_view word, std::size_t begin, column_values& to, text_numbers& out) const;
  /// Checks the number of fields of the record whose last field begins at `begin`.
  void end_record(std::size_t begin, text_numbers& out);

  text_layout layout_;
  char delimiter_;
  column_choice choice_;
  std::optional<column_choice> by_;  ///< nothing: records have no keys
  bool in_header_;
  bool guesses_header_;                             ///< whether in_header_ is guessed
  bool looks_ahead_;                                ///< whether look_ahead() has something left to decide
  std::size_t first_fields_ = 0;                    ///< the fields of the first record, once look_ahead() has seen it
  bool is_ragged_ = false;                          ///< header_guess::is_ragged(), once look_ahead() has seen it
  std::vector<header_guess::other_column> others_;  ///< if every column is chosen: the columns of other words
  std::vector<wanted_column> wanted_;               ///< by their places in the record
  std::size_t next_wanted_ = 0;                     ///< the first of wanted_ that the record at hand has not had
  std::vector<wanted_column> key_columns_;          ///< by their places in the record
  std::size_t next_key_ = 0;                        ///< the first of key_columns_ that the record at hand has not had
  record_keys keys_;
  std::vector<std::uint64_t> missing_;  ///< for each column, in the records that have ended
  std::size_t field_index_ = 0;         ///< the place of the field in its record
  std::size_t fields_of_record_ = 0;    ///< the fields of each record; 0 before the end of the first record
  plain_records plain_records_;
  std::vector<std::string> names_;
  std::string unquoted_;
};

}  // namespace fanin::cli
