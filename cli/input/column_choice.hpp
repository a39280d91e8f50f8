// SPDX-License-Identifier: Apache-2.0
// The columns of CSV that --column asks for.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

struct chosen_column {
  std::size_t field = 0;  ///< its place in the record, from 0
  /// The column's name, if it is one of several columns. It is empty for a column that was asked for alone. The
  /// name is from the header. If the header has no name for the column, or has the name twice, it is the column's
  /// number from 1. If that number is the name of another column, zeros are put in front of it.
  std::string name = {};
  std::string heading = {};  ///< the field of the header; empty without a header
};

/// A choice is a name of the header, or a number from 1, or several of these separated by commas, or "all". The empty
/// choice is every column, also of a header that has the name "all". A choice, or a part of a list, that the header
/// has as a name is that column, whatever else it might be. Names may have white space around them in a list.
class column_choice {
 public:
  /// `option` is for messages.
  explicit column_choice(std::string words, std::string_view option = "--column");

  bool is_all() const noexcept { return words_ == "all"; }
  /// Whether every column is chosen, and no column of the header by its name.
  bool is_every(std::span<const std::string> header) const;
  /// Whether the columns are known without reading the header or a record.
  bool is_one_column() const noexcept { return parts_.size() == 1 && !is_all(); }
  /// Whether the choice has a name, which only a header knows.
  bool has_name() const noexcept;
  /// The columns, in the order of the choice. Without a header there are no names; "all" then gives no column,
  /// because only a record knows how many there are. `input` is for messages.
  /// @throws usage_error: no such name, the number 0, a name that several columns have, a column that is chosen twice
  std::vector<chosen_column> resolve(std::span<const std::string> header, const std::string& input) const;
  /// Checks a choice for an input without a header. @throws usage_error if a part of the choice is a number beyond
  /// the fields of the first record, and a field of the first record
  void check_numbers(std::span<const std::string> first_record, const std::string& input) const;
  /// Which parts of the choice are numbers and name another column than the one with the number; empty if none.
  std::string numbers_as_names(std::span<const std::string> header) const;

 private:
  struct part {
    std::string name;
    std::optional<std::size_t> number;  ///< where the part is one
  };
  /// Returns whether the choice is read as a list of names and numbers. A choice of every column is not read as a
  /// list. A choice that as a whole is a name of the header is not read as a list, either.
  bool is_by_parts(std::span<const std::string> header) const;
  std::size_t field_of(const part& one, std::span<const std::string> header, const std::string& input) const;

  bool every_;  ///< whether nothing was chosen
  std::string words_;
  std::string option_;
  std::vector<part> parts_;
};

}  // namespace fanin::cli
