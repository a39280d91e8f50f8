// SPDX-License-Identifier: Apache-2.0
// Whether the first record of CSV names the columns, told by the records below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// Takes the records at the front of a text, and compares the first one with the others, column by column.
class header_guess {
 public:
  /// Records that end further behind take no part.
  static constexpr std::size_t most_bytes = std::size_t{1} << 16;

  /// The next field of the record at hand, without quotes.
  void add_field(std::string_view text) { record_.emplace_back(text); }
  void end_record();

  /// The first record is a header if it has text in a column whose other fields are numbers. Otherwise it is none if
  /// it has no number, or if a text of it occurs again in its column, or if every column is one of numbers whose
  /// first field is an integer only where another one is. Missing numbers tell nothing.
  /// @throws usage_error, which names `input` and the options that decide, if it may be a header or not
  bool is_header(const std::string& input) const;

 private:
  enum class kind : std::uint8_t { missing, integer, fraction, text };
  struct column {
    std::string first_text;
    kind first = kind::missing;
    bool has_integer = false, has_fraction = false, has_text = false;  ///< below the first record
    bool has_first_again = false;
  };
  static kind kind_of(std::string_view word);

  std::vector<std::string> record_;
  std::vector<column> columns_;
};

}  // namespace fanin::cli
