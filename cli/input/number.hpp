// SPDX-License-Identifier: Apache-2.0
// A number written in decimal, as an element.
#pragma once

#include <cstddef>
#include <string_view>
#include <system_error>
#include <vector>

#include <fanin/request.hpp>

#include "cli/input/rounded_numbers.hpp"
#include "cli/input/text_layout.hpp"

namespace fanin::cli {

/// Reads a word as a number, and appends the bytes of the element. The number is rounded once to the element type,
/// and `rounded` takes note of that. Returns invalid_argument if the word is no number of the type, or
/// result_out_of_range. Nothing is appended in these cases. A number of magnitude 0 or below the smallest float is
/// in range.
using number_reader = std::errc (*)(std::string_view word, std::vector<std::byte>& out, rounded_numbers& rounded);
number_reader number_reader_of(element_type type);

/// Whether a word stands for a missing number: the empty word, or NA, N/A, #N/A, <NA>, NULL or NONE in upper or
/// lower case. A nan is a number.
bool is_missing(std::string_view word);

/// The text without white space at both ends.
inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace fanin::cli
