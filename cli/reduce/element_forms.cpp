// SPDX-License-Identifier: Apache-2.0
#include "cli/reduce/element_forms.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "cli/input/inferred_number.hpp"
#include "cli/kit/output.hpp"

namespace fanin::cli {

bool element_forms::has(element_type type) {
  if (type == elements_.type) return true;
  const bool is_signed = elements_.type == element_type::i64;
  if (type == element_type::f64) return is_signed || elements_.type == element_type::u64;
  if (type != element_type::u64 || !is_signed) return false;
  if (!has_negative_) {
    const std::span numbers(static_cast<const std::int64_t*>(elements_.data), elements_.count);
    has_negative_ = std::ranges::any_of(numbers, [](std::int64_t one) { return one < 0; });
  }
  return !*has_negative_;
}

array_view element_forms::as(element_type type) {
  if (type != element_type::f64 || elements_.type == type) return {elements_.data, elements_.count, type};
  if (doubles_.empty()) {
    const auto* const bytes = static_cast<const std::byte*>(elements_.data);
    doubles_.assign(bytes, bytes + elements_.bytes());
    round_to_f64(doubles_, elements_.type);
  }
  return {doubles_.data(), elements_.count, type};
}

std::string rounded_text(const rounded_numbers& rounded, element_type type) {
  std::string numbers = rounded.decimals ? "decimals" : "";
  if (rounded.integers > 0) {
    numbers = fmt::format("{} integer{}{}{}", rounded.integers, rounded.integers == 1 ? "" : "s",
                          rounded.decimals ? " and " : "", numbers);
  }
  const bool is_one = rounded.integers == 1 && !rounded.decimals;
  return fmt::format("{} {} rounded to {}", numbers, is_one ? "was" : "were", to_string(type));
}

void warn_of_rounding(const std::string& place, const rounded_numbers& rounded, element_type type) {
  if (rounded.integers == 0) return;
  write_stderr(fmt::format("warning: {}: {} on reading; the results are for the rounded numbers", place,
                           rounded_text(rounded, type)));
}

}  // namespace fanin::cli
