// SPDX-License-Identifier: Apache-2.0
#include "cli/input/number_format.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace fanin::cli {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct lookalike {
  std::string_view bytes, name;
};
constexpr lookalike lookalikes[] = {{"\u2212", "U+2212 (minus sign), which is not '-'"},
                                    {"\u2013", "U+2013 (en dash), which is not '-'"},
                                    {"\u00a0", "U+00A0 (no-break space)"},
                                    {"\u202f", "U+202F (narrow no-break space)"},
                                    {"\u2009", "U+2009 (thin space)"},
                                    {"\ufeff", "U+FEFF (byte order mark)"}};

}  // namespace

std::optional<std::string> in_plain_format(std::string_view word, const number_format& format) {
  std::string standard;
  std::size_t digits = 0;   // since the last character that is no digit
  bool is_grouped = false;  // whether that character was one between thousands
  bool is_integer = true;   // whether the digits belong to the integer part
  const auto ends_group = [&] { return is_grouped ? digits == 3 : digits >= 1 && digits <= 3; };
  for (const char c : word) {
    if (is_digit(c)) {
      ++digits;
      standard += c;
      continue;
    }
    const bool is_separator = c == format.thousands;
    if (is_separator ? !is_integer || !ends_group() : is_grouped && !ends_group()) return std::nullopt;
    if (c == '.' && format.decimal != '.' && !is_separator) return std::nullopt;
    digits = 0;
    is_grouped = is_separator;
    if (is_separator) continue;
    const bool is_of_exponent =
        !standard.empty() && std::string_view("eEdD").find(standard.back()) != std::string_view::npos;
    is_integer = c == '(' || ((c == '+' || c == '-') && !is_of_exponent);
    standard += c == format.decimal ? '.' : c;
  }
  return is_grouped && !ends_group() ? std::nullopt : std::optional(standard);
}

std::optional<std::string> without_d_exponents(std::string_view word) {
  std::optional<std::string> changed;
  for (std::size_t i = 1; i + 1 < word.size(); ++i) {
    const char before = word[i - 1], behind = word[i + 1];
    if (word[i] != 'd' && word[i] != 'D') continue;
    if (!is_digit(before) && before != '.') continue;
    if (!is_digit(behind) && behind != '+' && behind != '-') continue;
    if (!changed) changed = word;
    (*changed)[i] = 'e';
  }
  return changed;
}

namespace {

/// Whether Fortran may have written the word as a number: above E+99 the exponent has three digits and no letter.
/// Such a word may be a range too, as 0.5-100.
bool may_have_exponent_without_letter(std::string_view word) {
  const std::size_t sign = word.size() < 6 ? 0 : word.size() - 4;
  return sign > 0 && (word[sign] == '+' || word[sign] == '-') && word.find('.') < sign &&
         std::ranges::all_of(word.substr(sign + 1), is_digit);
}

}  // namespace

std::string advice_on(std::string_view word, const number_format& format, char delimiter, bool begins_line) {
  for (const lookalike& one : lookalikes) {
    if (word.find(one.bytes) != word.npos) return fmt::format("; it has {}", one.name);
  }
  if (begins_line && (word.starts_with('{') || word.starts_with('['))) {
    return "; if this is JSON, jq takes the numbers out: jq '.[].price' FILE | fanin sum -";
  }
  for (const std::string_view sign : {"$", "\u20ac", "\u00a3", "%", "_"}) {
    const std::size_t at = word.find(sign);
    if (at == word.npos) continue;
    std::string rest(word);
    rest.erase(at, sign.size());
    if (rest.find_first_not_of("0123456789.,+-_ ") != rest.npos || rest.empty()) continue;
    return fmt::format("; \"sed 's/[{0}]//g' FILE | fanin sum -\" takes the sign {0} out", sign);
  }
  for (const char mark : {'\'', ' '}) {
    const bool is_of_groups =
        word.find(mark) != word.npos && word.find_first_not_of(std::string("0123456789.,+-") + mark) == word.npos;
    if (is_of_groups && format.is_plain() && in_plain_format(word, {.thousands = mark})) {
      return fmt::format("; if {0} is between thousands, say --thousands {0}", mark == ' ' ? "' '" : "\"'\"");
    }
  }
  const bool is_error_of_sheet = word.ends_with('!') || word.ends_with('?');  // as #REF! and #NAME?
  if (begins_line && word.starts_with('#') && !is_error_of_sheet)
    return "; if '#' begins a comment, say --comment '#'";
  if (!word.empty() && word.find_first_not_of("-?.*") == word.npos) {
    if (!format.can_skip) return {};
    return fmt::format("; --missing-words '{}' leaves it out", word);
  }
  const bool is_of_digits =
      word.find_first_of("0123456789") != word.npos && word.find_first_not_of("0123456789.,+-") == word.npos;
  if (is_of_digits && format.thousands && word.find(*format.thousands) != word.npos) {
    return fmt::format("; after each '{}' there have to be three digits", *format.thousands);
  }
  if (!is_of_digits || !format.is_plain()) return {};
  if (may_have_exponent_without_letter(word))
    return "; if this number is from Fortran, write an E before its exponent";
  std::string advice;
  // A decimal comma separates no fields, unless the delimiter is said to be a comma.
  const std::string_view delimited = delimiter == ',' ? " --delimiter ," : "";
  const auto commas = std::ranges::count(word, ','), points = std::ranges::count(word, '.');
  if (commas == 1 && in_plain_format(word, {.decimal = ','})) {
    advice += fmt::format("; if the comma is a decimal point, say --decimal ,{}", delimited);
  }
  if (commas > 0 && in_plain_format(word, {.thousands = ','})) {
    advice += "; if commas are between thousands, say --thousands ,";
  }
  if (points > 0 && commas < 2 && in_plain_format(word, {.decimal = ',', .thousands = '.'})) {
    advice += fmt::format("; if points are between thousands, say --decimal , --thousands .{}", delimited);
  }
  return advice;
}

}  // namespace fanin::cli
