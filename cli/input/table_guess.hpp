// SPDX-License-Identifier: Apache-2.0
// Decides by the first records of a text what separates the fields of CSV, and whether a text is CSV at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cli/input/text_layout.hpp"
#include "cli/input/text_numbers.hpp"

namespace fanin::cli {

/// The bytes at the front of a text that a guess looks at.
inline constexpr std::size_t most_guessed_bytes = std::size_t{1} << 16;

/// The delimiter of CSV: the comma if it gives each record as many fields as the first one, and more than one; else
/// the first of semicolon, tab and bar that does; else the blank, if it does and the first record consists of words;
/// else the comma. A decimal comma is no delimiter: the semicolon
/// takes its place. `text` is the front of the input, or the input as a whole if `is_all`; `numbers` is for messages.
/// @throws usage_error if the comma does, and may be the decimal point of fields that another delimiter separates
char guess_delimiter(std::string_view text, bool is_all, const text_layout& layout, const text_numbers& numbers);

/// Whether a text whose format is not known is CSV. It is, if these two conditions hold:
/// - A delimiter gives all records the same number of fields, there are two records or more, and some fields are
///   numbers.
/// - As plain text it would not be numbers. It has words with letters, or the delimiter is no white space and the
///   records are no numbers with a decimal comma or with commas between thousands.
bool is_table(std::string_view text, bool is_all, const text_layout& layout, const text_numbers& numbers);

}  // namespace fanin::cli
