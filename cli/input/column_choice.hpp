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
  /// Of one of several columns: its name in the header, or its number from 1 where the header has no name for it, has
  /// the name twice, or has a number as its name. Of a column that was asked for alone: empty.
  std::string name = {};
};

/// A choice is a name of the header, or a number from 1, or several of these separated by commas, or "all"; the
/// empty choice is the only column. A choice that the header has as one name is that column, whatever else it might
/// be, unless it is a number. Names may have white space around them in a list.
class column_choice {
 public:
  /// `option` is for messages. @throws usage_error if a number is 0
  explicit column_choice(std::string words, std::string_view option = "--column");
  /// All columns, whatever their names are.
  static column_choice every();

  /// Whether nothing was chosen, so that records may have one field only.
  bool is_only_column() const noexcept { return words_.empty() && !every_; }
  bool is_all() const noexcept { return every_ || words_ == "all"; }
  /// Whether the columns are known without reading the header or a record.
  bool is_one_column() const noexcept { return parts_.size() == 1 && !is_all(); }
  /// Whether the choice has a name, which only a header knows.
  bool has_name() const noexcept;
  /// The columns, in the order of the choice. Without a header there are no names; "all" then gives no column,
  /// because only a record knows how many there are. `input` is for messages.
  /// @throws usage_error: no such name, a name that several columns have, a column that is chosen twice
  std::vector<chosen_column> resolve(std::span<const std::string> header, const std::string& input) const;

 private:
  struct part {
    std::string name;
    std::optional<std::size_t> field;  ///< where the part is a number
  };

  std::string words_;
  std::string option_;
  std::vector<part> parts_;
  bool every_ = false;
};

}  // namespace fanin::cli
