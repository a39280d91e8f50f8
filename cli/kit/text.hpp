// SPDX-License-Identifier: Apache-2.0
// Conversions between values, enumerators and text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <fanin/result.hpp>

#include "base/words.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {

using detail::printable;

/// The text with control characters, which a file name or a result file may contain, replaced by '?'. Control
/// characters are the control characters of ASCII, U+0080 to U+009F in UTF-8, and the bytes 0x80 to 0x9f alone.
/// Terminals obey all three.
std::string one_line(std::string_view text);

/// A number of things, as in "1 element" and "2 elements". `thing` forms its plural with an s.
inline std::string counted(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// The parts of the text between the separators. Empty parts count.
std::vector<std::string> split(std::string_view text, char separator);

/// The text as a field of CSV: in quotes if it has the delimiter, a quote or a line end.
std::string csv_cell(std::string text, char delimiter);

/// The shortest text that reads back as the same number; "nan", "inf" and "-inf" otherwise. `indexed` gives its
/// element, `extremes` both numbers.
std::string value_text(const scalar& value);
std::string value_text(double value);

/// The number as a double in the format %a of printf(). `indexed` gives its element, `extremes` both numbers.
std::string value_hex(const scalar& value);
std::string value_hex(double value);

/// A change as in "+1.2 %" or "-1.2 %"; "0.0 %" has no sign.
std::string change_text(double fraction);

/// The text behind a message that an input has no such name: "; there are" and up to 16 of the names. The most
/// similar name comes before this, unless the word is empty.
std::string other_names(std::string_view word, std::span<const std::string> names);

/// The names of enumerators.
template <class Enums>
std::vector<std::string_view> names_of(const Enums& known) {
  std::vector<std::string_view> names;
  for (const auto one : known) names.push_back(to_string(one));
  return names;
}

/// The enumerator of `known` whose to_string() is `word`. `what` describes the enumerators in the error message.
/// @throws usage_error if there is none; the message suggests a word
template <class Enum>
Enum parse_choice(std::string_view what, std::string_view word, std::span<const Enum> known) {
  for (const Enum one : known) {
    if (to_string(one) == word) return one;
  }
  throw usage_error(
      fmt::format("unknown {} '{}'{}", what, printable(word), detail::suggestion(word, names_of(known))));
}

}  // namespace fanin::cli
