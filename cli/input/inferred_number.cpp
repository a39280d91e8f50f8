// SPDX-License-Identifier: Apache-2.0
#include "cli/input/inferred_number.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "cli/input/number.hpp"

namespace fanin::cli {

namespace {

struct integer {
  bool negative = false;
  std::uint64_t magnitude = 0;
};

/// The digits of an integer behind its sign; nothing if the word is no integer. Leading zeros are left out.
std::optional<std::string_view> digits_of(std::string_view word) {
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  if (word.empty() || word.find_first_not_of("0123456789") != word.npos) return std::nullopt;
  word.remove_prefix(std::min(word.find_first_not_of('0'), word.size() - 1));
  return word;
}

/// The integer that a word is, with a magnitude below 2^64. -0 is none.
std::optional<integer> read_integer(std::string_view word) {
  constexpr std::size_t certain_digits = std::numeric_limits<std::uint64_t>::digits10;
  integer read{.negative = word.starts_with('-')};
  if (word.starts_with('+') || read.negative) word.remove_prefix(1);
  if (word.empty()) return std::nullopt;
  if (word.size() > certain_digits) {
    const std::optional<std::string_view> digits = digits_of(word);
    if (!digits || digits->size() > certain_digits + 1) return std::nullopt;
    word = *digits;
  }
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto digit = static_cast<unsigned char>(word[i] - '0');
    if (digit > 9) return std::nullopt;
    if (i < certain_digits) {
      read.magnitude = 10 * read.magnitude + digit;
    } else if (__builtin_mul_overflow(read.magnitude, 10, &read.magnitude) ||
               __builtin_add_overflow(read.magnitude, digit, &read.magnitude)) {
      return std::nullopt;
    }
  }
  return read.negative && read.magnitude == 0 ? std::nullopt : std::optional(read);
}

bool is_f64(std::uint64_t magnitude) {
  if (magnitude == 0) return true;
  return std::numeric_limits<std::uint64_t>::digits - std::countl_zero(magnitude) - std::countr_zero(magnitude) <=
         std::numeric_limits<double>::digits;
}

/// False if neither i64 nor u64 holds all integers of the column with this one.
bool append_integer(const integer& read, column_values& to) {
  constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  const bool is_signed = read.negative ? read.magnitude <= sign_bit : read.magnitude < sign_bit;
  const bool negative = read.negative || to.has_negative;
  if (negative && (!is_signed || to.type == element_type::u64)) return false;
  if (!is_signed) to.type = element_type::u64;  // The bits of the integers before stay as they are.
  to.has_negative = negative;
  if (!is_f64(read.magnitude)) ++to.rounded.integers;
  const std::uint64_t bits = read.negative ? 0 - read.magnitude : read.magnitude;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&bits);
  to.bytes.insert(to.bytes.end(), bytes, bytes + sizeof bits);
  return true;
}

}  // namespace

std::errc read_inferred(std::string_view word, column_values& to) {
  if (to.type != element_type::f64) {
    if (const std::optional<integer> read = read_integer(word); read && append_integer(*read, to)) return {};
  }
  static const number_reader read_f64 = number_reader_of(element_type::f64);
  const std::size_t before = to.bytes.size();
  if (const std::errc code = read_f64(word, to.bytes, to.rounded); code != std::errc()) return code;
  if (to.type != element_type::f64) round_to_f64(std::span(to.bytes).first(before), to.type);
  to.type = element_type::f64;
  return {};
}

bool is_integer(std::string_view word) { return digits_of(word).has_value(); }

void round_to_f64(std::span<std::byte> integers, element_type from) {
  for (std::size_t at = 0; at < integers.size(); at += sizeof(double)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, integers.data() + at, sizeof bits);
    const double value =
        from == element_type::i64 ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
    std::memcpy(integers.data() + at, &value, sizeof value);
  }
}

}  // namespace fanin::cli
