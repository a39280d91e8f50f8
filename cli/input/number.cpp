// SPDX-License-Identifier: Apache-2.0
#include "cli/input/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "cli/input/text_layout.hpp"

namespace fanin::cli {

namespace {

// from_chars reports underflow and overflow by the same code. Only an overflow is an error; strtod() gives the value
// after an underflow.
template <std::floating_point T>
bool finish_out_of_range(std::string_view word, T& value) {
  const std::string copy(word);
  if constexpr (std::same_as<T, float>) {
    value = std::strtof(copy.c_str(), nullptr);
  } else {
    value = std::strtod(copy.c_str(), nullptr);
  }
  return std::isfinite(value);
}
template <std::integral T>
bool finish_out_of_range(std::string_view, T&) {
  return false;
}

/// Reads up to 15 digits with a point among them or without, if the word is no more than these and a sign. Both
/// numbers of the quotient are exact, so that it is rounded once, and is exact if a power of 5 divides the digits.
bool read_short_decimal(std::string_view word, double& value, rounded_numbers& rounded) {
  constexpr double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::size_t most_digits = std::size(powers) - 1;
  constexpr auto powers_of_five = [] {
    std::array<std::uint64_t, most_digits + 1> all{1};
    for (std::size_t i = 1; i < all.size(); ++i) all[i] = 5 * all[i - 1];
    return all;
  }();
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  if (word.size() > most_digits + 1) return false;
  std::uint64_t integer = 0;
  std::size_t point = word.size();
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto digit = static_cast<unsigned char>(word[i] - '0');
    if (digit <= 9) {
      integer = 10 * integer + digit;
    } else if (word[i] == '.' && point == word.size()) {
      point = i;
    } else {
      return false;
    }
  }
  const std::size_t decimals = point == word.size() ? 0 : word.size() - point - 1;
  const std::size_t digits = point == word.size() ? point : word.size() - 1;
  if (digits == 0 || digits > most_digits) return false;
  const double size = static_cast<double>(integer) / powers[decimals];
  value = negative ? -size : size;
  rounded.decimals = rounded.decimals || integer % powers_of_five[decimals] != 0;
  return true;
}

template <class T>
std::errc read_value(std::string_view word, T& value, rounded_numbers& rounded) {
  if constexpr (std::same_as<T, double>) {
    if (read_short_decimal(word, value, rounded)) return {};
  }
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end != word.data() + word.size()) return std::errc::invalid_argument;
  if (code != std::errc() && (code != std::errc::result_out_of_range || !finish_out_of_range(word, value)))
    return code;
  if constexpr (std::floating_point<T>) rounded.note(word, value);
  return {};
}
/// Rounds by way of the float next to the number whose mantissa is odd: rounding that float to fewer bits gives what
/// rounding the number itself gives.
template <narrow_float T>
std::errc read_value(std::string_view word, T& value, rounded_numbers& rounded) {
  double wide = 0;
  rounded_numbers rounded_to_wide;
  if (const std::errc code = read_value(word, wide, rounded_to_wide); code != std::errc()) return code;
  const std::string copy(word);
  const int mode = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  const float low = std::strtof(copy.c_str(), nullptr);
  std::fesetround(FE_UPWARD);
  const float high = std::strtof(copy.c_str(), nullptr);
  std::fesetround(mode);
  value = T((std::bit_cast<std::uint32_t>(low) & 1) != 0 ? low : high);
  const bool beyond = std::isinf(value) ? std::isfinite(wide) : std::isnan(value) && !std::isnan(wide);
  if (beyond) return std::errc::result_out_of_range;
  rounded.note(word, value);
  return {};
}

std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

/// Reads a+bj, a or bj, in parentheses or without, as Python and numpy write complex numbers; i stands for j too.
template <class P>
std::errc read_value(std::string_view word, std::complex<P>& value, rounded_numbers& rounded) {
  if (word.size() > 2 && word.front() == '(' && word.back() == ')') word = word.substr(1, word.size() - 2);
  std::string_view re = word, im;
  if (word.ends_with('j') || word.ends_with('i')) {
    word.remove_suffix(1);
    std::size_t at = word.find_last_of("+-");
    if (at != word.npos && at > 0 && (word[at - 1] == 'e' || word[at - 1] == 'E')) {
      at = word.find_last_of("+-", at - 1);
    }
    if (at == word.npos) at = 0;
    re = word.substr(0, at);
    im = word.substr(at);
    if (im.empty()) return std::errc::invalid_argument;
  }
  P parts[2] = {0, 0};
  const std::string_view words[] = {without_plus(re), without_plus(im)};
  for (int i = 0; i < 2; ++i) {
    if (words[i].empty()) continue;
    if (const std::errc code = read_value(words[i], parts[i], rounded); code != std::errc()) return code;
  }
  value = {parts[0], parts[1]};
  return re.empty() && im.empty() ? std::errc::invalid_argument : std::errc();
}

template <class T>
std::errc read_number(std::string_view word, std::vector<std::byte>& out, rounded_numbers& rounded) {
  word = without_plus(word);
  T value{};
  if (const std::errc code = read_value(word, value, rounded); code != std::errc()) return code;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
  return {};
}

}  // namespace

number_reader number_reader_of(element_type type) {
  return with_element(type, []<class T>() -> number_reader { return &read_number<T>; });
}

bool is_missing(std::string_view word) {
  const auto is = [word](std::string_view name) {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    return std::ranges::equal(word, name, {}, upper);
  };
  constexpr std::string_view names[] = {"", "NA", "N/A", "#N/A", "<NA>", "NULL", "NONE"};
  return std::ranges::any_of(names, is);
}

}  // namespace fanin::cli
