// SPDX-License-Identifier: Apache-2.0
#include "cli/input/header_guess.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/input/inferred_number.hpp"
#include "cli/input/number.hpp"
#include "cli/kit/errors.hpp"

namespace fanin::cli {

header_guess::kind header_guess::kind_of(std::string_view word) {
  static const number_reader read_any = number_reader_of(element_type::c128);
  if (is_missing(word)) return kind::missing;
  if (is_integer(word)) return kind::integer;
  std::vector<std::byte> number;
  return read_any(word, number) == std::errc::invalid_argument ? kind::text : kind::fraction;
}

void header_guess::end_record() {
  const bool is_first = columns_.empty();
  if (is_first) columns_.resize(record_.size());
  for (std::size_t i = 0; i < std::min(record_.size(), columns_.size()); ++i) {
    const std::string_view word = trimmed(record_[i]);
    const kind found = kind_of(word);
    column& to = columns_[i];
    if (is_first) {
      to.first = found;
      to.first_text = word;
      continue;
    }
    to.has_integer = to.has_integer || found == kind::integer;
    to.has_fraction = to.has_fraction || found == kind::fraction;
    to.has_text = to.has_text || found == kind::text;
    to.has_first_again = to.has_first_again || word == to.first_text;
  }
  record_.clear();
}

bool header_guess::is_header(const std::string& input) const {
  const auto any = [this](auto is) { return std::ranges::any_of(columns_, is); };
  const auto is_number = [](kind one) { return one == kind::integer || one == kind::fraction; };
  if (any([](const column& one) {
        return one.first == kind::text && !one.has_text && (one.has_integer || one.has_fraction);
      })) {
    return true;
  }
  if (!any([&](const column& one) { return is_number(one.first); })) return false;
  if (any([](const column& one) { return one.first == kind::text && one.has_first_again; })) return false;
  const bool is_doubtful = any([](const column& one) {
    const bool has_other_numbers = one.first == kind::integer && one.has_fraction && !one.has_integer;
    return one.first == kind::text || one.has_text || has_other_numbers;
  });
  if (!is_doubtful) return false;
  throw usage_error(fmt::format(
      "{}: the first line has numbers, and may name the columns or be data; say --header or --no-header", input));
}

}  // namespace fanin::cli
