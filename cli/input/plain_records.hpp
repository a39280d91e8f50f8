// SPDX-License-Identifier: Apache-2.0
// Records of CSV without quotes, whose fields are where the delimiters are.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cli/input/separators.hpp"
#include "cli/input/text_numbers.hpp"

namespace fanin::cli {

/// Finds one record after the other. A record takes a few comparisons, however many fields it has.
class plain_records {
 public:
  static constexpr int most_misses = 16;

  explicit plain_records(char delimiter) : delimiter_(delimiter) {}

  /// The next calls are about this text.
  void begin(std::string_view text) {
    text_ = text;
    is_searched_ = false;
    misses_ = 0;
  }
  /// Whether a record of `fields` fields without quotes begins at `at` and its end is in the text. `at` does not
  /// decrease from call to call. A record of more than separators::most_bytes bytes is not found. After
  /// most_misses records that were not found, no further record is found, because the same columns may have quotes
  /// in every record.
  bool find(std::size_t at, std::size_t fields) {
    if (misses_ == most_misses) return false;
    if (!is_searched_ || at >= separators_.end()) search(at);
    if (line_end_behind(at) >= separators_.end() && at > separators_.begin()) search(at);
    const bool found = is_record(at, fields);
    misses_ = found ? 0 : misses_ + 1;
    return found;
  }
  /// Field i, from 0, of the record that was found.
  std::string_view field(std::size_t i) const {
    const std::size_t begin = i == 0 ? begin_ : separators_.delimiter(first_ + i - 1) + 1;
    const std::size_t end = i == last_field_ ? line_end_ : separators_.delimiter(first_ + i);
    return text_.substr(begin, end - begin);
  }
  /// The offset after the line end of the record that was found.
  std::size_t end() const noexcept { return end_; }

 private:
  void search(std::size_t at) {
    separators_.find(text_, at, delimiter_);
    is_searched_ = true;
    line_ = next_ = 0;
  }
  std::size_t line_end_behind(std::size_t at) {
    while (separators_.line_end_or_odd(line_) < at) ++line_;
    return separators_.line_end_or_odd(line_);
  }
  bool is_record(std::size_t at, std::size_t fields) {
    line_end_ = line_end_behind(at);
    if (line_end_ >= separators_.end() || !ends_line(text_[line_end_])) return false;
    while (separators_.delimiter(next_) < at) ++next_;
    first_ = next_;
    last_field_ = fields - 1;
    const std::size_t next = first_ + last_field_;  // the first delimiter behind the record
    if (next > separators_.delimiters() || separators_.delimiter(next) < line_end_) return false;
    if (last_field_ > 0 && separators_.delimiter(next - 1) > line_end_) return false;
    const std::optional<std::size_t> end = after_line_end(text_, line_end_, false);
    next_ = next;
    begin_ = at;
    end_ = end.value_or(at);
    return end.has_value();
  }

  char delimiter_;
  std::string_view text_;
  separators separators_;
  int misses_ = 0;
  bool is_searched_ = false;         ///< whether the separators belong to this text
  std::size_t line_ = 0, next_ = 0;  ///< the current line end and delimiter; earlier ones are passed
  std::size_t first_ = 0;            ///< the first delimiter of the record
  std::size_t last_field_ = 0;
  std::size_t begin_ = 0, line_end_ = 0, end_ = 0;
};

}  // namespace fanin::cli
