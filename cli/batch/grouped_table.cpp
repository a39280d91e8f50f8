// SPDX-License-Identifier: Apache-2.0
#include "cli/batch/grouped_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/input/inferred_number.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/reduce/element_forms.hpp"

namespace fanin::cli {

void grouped_table::check_columns(const source& input) const {
  const std::span<const input_column> others = input.columns();
  if (std::ranges::equal(columns_, others, {}, &grouped_column::name, &input_column::name)) return;
  const auto names = [](const auto& columns) {
    std::string text;
    for (const auto& one : columns) text += (text.empty() ? "" : ",") + printable(one.name);
    return text;
  };
  throw usage_error(fmt::format("{} has the columns {}, but {} has {}{}", inputs_.front().name, names(columns_),
                                input.name(), names(others), advice_on_names));
}

void grouped_table::append(grouped_column& to, const array_view& block) const {
  element_forms more(block);
  if (to.bytes.empty()) to.type = block.type;
  if (to.type != block.type) {
    element_forms before(to.elements());
    const bool are_u64 = before.has(element_type::u64) && more.has(element_type::u64);
    if (!are_u64 && (!before.has(element_type::f64) || !more.has(element_type::f64))) {
      throw usage_error(fmt::format("{} has elements of {}, but another input has elements of {}",
                                    inputs_.front().name, to_string(to.type), to_string(block.type)));
    }
    if (!are_u64 && to.type != element_type::f64) round_to_f64(to.bytes, to.type);
    to.type = are_u64 ? element_type::u64 : element_type::f64;
  }
  const array_view elements = more.as(to.type);
  const auto* const bytes = static_cast<const std::byte*>(elements.data);
  to.bytes.insert(to.bytes.end(), bytes, bytes + elements.bytes());
}

void grouped_table::read(source& input) {
  if (inputs_.empty()) {
    for (const input_column& one : input.columns()) columns_.push_back({.name = one.name});
  }
  check_columns(input);
  inputs_.push_back(described(input));
  for_each_block(input, [&](std::size_t i, const array_view& block) { append(columns_[i], block); });
  lines_.add(input);
  input.finish();
  const record_keys& found = input.keys();
  std::vector<std::uint64_t> numbers;
  for (const key_fields& key : found.distinct()) numbers.push_back(keys_.number_of(key));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const input_column& from = input.columns()[i];
    grouped_column& to = columns_[i];
    if (!numbers.empty()) {
      for (const std::uint64_t key : found.of_elements(i)) to.keys.push_back(numbers[key]);
    }
    to.has_numbers = to.has_numbers || from.has_numbers;
    to.missing += from.missing;
    to.rounded += from.rounded;
    if (inputs_.size() == 1) to.heading = from.heading;
    if (to.heading != from.heading) {
      throw usage_error(fmt::format("the column is called '{}' in {}, but '{}' in {}{}", printable(to.heading),
                                    inputs_.front().name, printable(from.heading), input.name(), advice_on_names));
    }
  }
  if (inputs_.size() > 1) return;
  keys_.set_names(found.names());
  delimiter_ = input.delimiter();
}

}  // namespace fanin::cli
