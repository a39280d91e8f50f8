// SPDX-License-Identifier: Apache-2.0
#include "cli/input/header_guess.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

namespace fanin::cli {

header_guess::kind header_guess::kind_of(std::string_view word) const {
  if (numbers_.is_missing(word) || word.find_first_not_of("-?.*") == std::string_view::npos) return kind::missing;
  if (numbers_.is_integer(word)) return kind::integer;
  return numbers_.is_number(word) ? kind::fraction : kind::text;
}

void header_guess::end_record(std::size_t end) {
  const bool is_first = records_++ == 0;
  if (is_first) {
    columns_.resize(record_.size());
    end_of_guess_ = std::clamp(16 * end, most_bytes, most_bytes_of_long);
  }
  is_ragged_ = is_ragged_ || record_.size() != columns_.size();
  for (std::size_t i = 0; i < std::min(record_.size(), columns_.size()); ++i) {
    const std::string_view word = trimmed(record_[i].text);
    const kind found = kind_of(word);
    column& to = columns_[i];
    if (is_first) {
      to.first = found;
      to.first_text = word;
      to.first_is_quoted = record_[i].is_quoted;
      continue;
    }
    to.has_missing = to.has_missing || found == kind::missing;
    to.has_integer = to.has_integer || found == kind::integer;
    to.has_fraction = to.has_fraction || found == kind::fraction;
    if (found == kind::text && !to.has_text) to.text = word;
    to.has_text = to.has_text || found == kind::text;
    to.has_quoted = to.has_quoted || record_[i].is_quoted;
    to.has_first_again = to.has_first_again || word == to.first_text;
  }
  record_.clear();
}

std::vector<std::string> header_guess::first_record() const {
  std::vector<std::string> words;
  for (const column& one : columns_) words.push_back(one.first_text);
  return words;
}

std::vector<header_guess::other_column> header_guess::other_columns(bool has_header, bool skips_missing) const {
  std::vector<other_column> all;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const column& one = columns_[i];
    const kind first = has_header ? kind::missing : one.first;
    const bool has_number = one.has_integer || one.has_fraction || first == kind::integer || first == kind::fraction;
    const bool has_text = one.has_text || first == kind::text;
    const bool is_empty = !has_text && !has_number && records_ > (has_header ? 1 : 0);
    if (has_text || (is_empty && !skips_missing))
      all.push_back({i, one.has_text || is_empty ? one.text : one.first_text});
  }
  return all;
}

bool header_guess::has_consecutive_integers() const {
  std::vector<long long> integers;
  for (const column& one : columns_) {
    if (one.first == kind::integer) integers.push_back(std::strtoll(one.first_text.c_str(), nullptr, 10));
  }
  const auto is_gap = [](long long a, long long b) { return a >= b || a + 1 != b; };
  return integers.size() > 1 && std::ranges::adjacent_find(integers, is_gap) == integers.end();
}

usage_error header_guess::doubt(const std::string& input) {
  return usage_error(fmt::format(
      "{}: the first line has numbers, so it may be data or names of columns; say --header or --no-header", input));
}

bool header_guess::is_name(std::string_view text) const {
  constexpr std::string_view marks[] = {"-", "+", ".", ",", "$", "\u2212", "\u20ac", "\u00a3", "\u00a5", "\u00a0"};
  std::string_view rest = text;
  for (const std::string_view mark : marks) {
    if (rest.starts_with(mark)) rest.remove_prefix(mark.size());
  }
  if (rest.empty() || rest[0] < '0' || rest[0] > '9') return true;
  if (rest.find_first_not_of("0123456789.,' %$\u20ac\u00a3\u00a5\u00a0") == rest.npos) return false;
  return std::ranges::none_of(
      columns_, [](const column& one) { return one.first == kind::integer || one.first == kind::fraction; });
}

bool header_guess::are_quoted_names() const {
  return std::ranges::all_of(columns_,
                             [](const column& one) { return one.first_is_quoted || one.first_text.empty(); }) &&
         std::ranges::any_of(columns_, [](const column& one) {
           return one.is_of_numbers() && one.first_is_quoted && !one.has_quoted && one.first != kind::missing &&
                  one.first_text.find_first_of(",;|\t") == std::string::npos;
         });
}

bool header_guess::is_header(const std::string& input) const {
  const auto any = [this](auto is) { return std::ranges::any_of(columns_, is); };
  const auto all = [this](auto is) { return std::ranges::all_of(columns_, is); };
  constexpr std::string_view digits = "0123456789";
  if (are_quoted_names()) return true;
  if (any([&](const column& one) { return one.has_text_above_numbers() && is_name(one.first_text); })) return true;
  if (any([](const column& one) { return one.has_text_above_numbers(); })) throw doubt(input);
  const bool has_text = any([](const column& one) { return one.first == kind::text || one.has_text; });
  if (any([&](const column& one) {
        return one.first == kind::fraction && one.first_text.find_first_of(digits) != std::string::npos;
      })) {
    const bool alone_has_fraction = any([](const column& one) { return one.alone_is_fraction(); });
    if (has_text && alone_has_fraction) throw doubt(input);
    return false;
  }
  if (!any([](const column& one) { return one.first == kind::integer; })) return false;
  const bool is_sequence = has_consecutive_integers();
  const bool repeats_text = any([](const column& one) { return one.first == kind::text && one.has_first_again; });
  if (repeats_text && !is_sequence) return false;
  const bool alone_has_integers =
      all([](const column& one) { return one.first != kind::integer || one.alone_is_integer(); });
  const bool is_above_fractions = any([](const column& one) { return one.alone_is_integer(); });
  const column& corner = columns_.front();
  const bool corner_is_empty =
      corner.first_text.empty() && !corner.has_missing && corner.is_of_numbers() &&
      std::all_of(columns_.begin() + 1, columns_.end(), [](const column& one) { return one.first == kind::integer; });
  if (!has_text && !alone_has_integers && !(is_sequence && is_above_fractions) && !corner_is_empty) return false;
  throw doubt(input);
}

}  // namespace fanin::cli
