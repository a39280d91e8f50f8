// SPDX-License-Identifier: Apache-2.0
#include "cli/input/text_numbers.hpp"

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

text_numbers::text_numbers(std::optional<element_type> type, bool skip_missing, std::string name)
    : type_(type.value_or(element_type::f64)),
      first_type_(type.value_or(element_type::i64)),
      read_(type_ == element_type::f64 ? nullptr : number_reader_of(type_)),
      skip_missing_(skip_missing),
      name_(std::move(name)) {
  add_column();
}

void text_numbers::append_empty(std::size_t begin, column_values& to) const {
  const std::errc code = append({}, begin, to);
  if (code != std::errc()) refuse(code, {}, begin, to, {});
}

void text_numbers::refuse(std::errc code, std::string_view word, std::size_t begin, const column_values& to,
                          std::string_view advice) const {
  const std::string column = to.name.empty() ? "" : fmt::format("column '{}': ", printable(to.name));
  if (is_missing(word)) advice = "; --missing skip leaves it out";
  if (word.empty()) fail(begin, fmt::format("{}an empty field{}", column, advice));
  const char* const problem =
      code == std::errc::result_out_of_range ? "is out of range for" : "is not a number of type";
  fail(begin, fmt::format("{}'{}' {} {}{}", column, printable(word), problem, to_string(type_), advice));
}

void text_numbers::fail_length(std::size_t longest, std::size_t begin) const {
  fail(begin, fmt::format("{} of more than {} bytes", longest == longest_field ? "a field" : "a word", longest));
}

void text_numbers::fail(std::size_t at, const std::string& what) const {
  const std::uint64_t offset = consumed_ + at;
  const std::uint64_t byte = offset >= line_begin_ ? offset - line_begin_ + 1 : 1;
  throw bad_data(fmt::format("{}: line {}, byte {}: {}", name_, line_, byte, what));
}

}  // namespace fanin::cli
