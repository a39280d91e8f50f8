// SPDX-License-Identifier: Apache-2.0
// How people and programs write numbers, other than as from_chars() reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

struct number_format {
  char decimal = '.';
  std::optional<char> thousands = {};           ///< between groups of three digits, and not before the first group
  std::vector<std::string> missing_words = {};  ///< more words for a missing number than is_missing() knows
  bool can_skip = true;                         ///< whether messages may advise to leave out missing numbers

  /// Whether from_chars() reads the numbers as they are, and no other word stands for a missing number.
  bool is_plain() const noexcept { return decimal == '.' && !thousands && missing_words.empty(); }
};

/// The word with "." for the decimal character and without the characters between thousands. Nothing if the word is
/// no number in this format: it has a "." that the format does not, or another group than of three digits.
std::optional<std::string> in_plain_format(std::string_view word, const number_format& format);

/// The word with "e" in place of each "d" or "D" between the digits of a number, as Fortran writes
/// exponents: 1.5D+03. Nothing if there is none.
std::optional<std::string> without_d_exponents(std::string_view word);

/// The advice that follows a message that a word is no number. It says which characters of the word only look like
/// characters of numbers, or which options read the word. `delimiter` separates words. Empty if there is no
/// advice.
std::string advice_on(std::string_view word, const number_format& format, char delimiter, bool begins_line);

}  // namespace fanin::cli
