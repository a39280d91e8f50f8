// SPDX-License-Identifier: Apache-2.0
#include "cli/input/rounded_numbers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace fanin::cli {

namespace {

constexpr std::string_view all_digits = "0123456789";

std::string_view without_sign(std::string_view word) {
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  return word;
}

bool is_integer_in_digits(std::string_view word) {
  const std::size_t point = word.find_first_not_of(all_digits);
  return point == word.npos || (word[point] == '.' && word.find_first_not_of('0', point + 1) == word.npos);
}

/// A number `digits` * 10^exponent, whose digits neither begin nor end with a zero; without digits it is 0.
struct decimal {
  std::string digits;
  long exponent = 0;

  explicit decimal(std::string_view word) {
    const std::size_t end = std::min(word.find_first_of("eE"), word.size());
    if (end < word.size()) {
      std::string_view power = word.substr(end + 1);
      if (power.starts_with('+')) power.remove_prefix(1);
      int read = 0;  // A number whose exponent is no int was read as 0, which no digits are.
      std::from_chars(power.data(), power.data() + power.size(), read);
      exponent = read;
    }
    const std::string_view mantissa = word.substr(0, end);
    for (const char c : mantissa) {
      if (c != '.' && (c != '0' || !digits.empty())) digits += c;
    }
    const std::size_t point = mantissa.find('.');
    if (point != mantissa.npos) exponent -= static_cast<long>(mantissa.size() - point - 1);
    for (; digits.ends_with('0'); ++exponent) digits.pop_back();
    if (digits.empty()) exponent = 0;
  }
  bool operator==(const decimal&) const = default;
};

/// Whether a number without sign and exponent, of at most 19 digits, is equal to `value`; nothing for other words.
/// The number is m / 10^k, and m / 5^k is an integer where the number is a float.
std::optional<bool> is_exact_in_short(std::string_view word, double value) {
  if (word.size() > std::numeric_limits<std::uint64_t>::digits10) return std::nullopt;
  std::uint64_t mantissa = 0;
  bool has_point = false;
  int decimals = 0;
  for (const char c : word) {
    if (c == '.') {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    mantissa = 10 * mantissa + static_cast<unsigned>(c - '0');
    if (has_point) ++decimals;
  }
  for (int i = 0; i < decimals; ++i) {
    if (mantissa % 5 != 0) return false;
    mantissa /= 5;
  }
  const int zeros = mantissa == 0 ? 0 : std::countr_zero(mantissa);
  mantissa >>= zeros;
  if (mantissa >> std::numeric_limits<double>::digits != 0) return false;
  return std::ldexp(static_cast<double>(mantissa), zeros - decimals) == value;
}

bool is_exact(std::string_view word, double value) {
  if (const std::optional<bool> known = is_exact_in_short(word, value)) return *known;
  constexpr int most_digits = 767;  // the most decimal digits of a double
  return decimal(word) == decimal(fmt::format("{:.{}e}", value, most_digits - 1));
}

}  // namespace

void rounded_numbers::note(std::string_view word, double value) {
  if (!std::isfinite(value)) return;
  word = without_sign(word);
  const bool is_integer = is_integer_in_digits(word);
  if ((decimals && !is_integer) || is_exact(word, std::fabs(value))) return;
  if (is_integer) {
    ++integers;
  } else {
    decimals = true;
  }
}

}  // namespace fanin::cli
