// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/batch/word_plan.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "backends/presence_rule.hpp"

namespace fanin::cpu {
namespace {

constexpr std::uint64_t every_bit = ~std::uint64_t{0};

/// The bits of the NaN that results have.
std::uint64_t nan_bits(element_type type) {
  return with_element(type, []<class T>() {
    std::uint64_t bits = 0;
    if constexpr (floating<T>) {
      const T nan = std::numeric_limits<T>::quiet_NaN();
      std::memcpy(&bits, &nan, sizeof(T));
    }
    return bits;
  });
}

word_rule rule_for(word_kernel kernel, const operation_row& row, element_type type) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * byte_size(type) - 1);
  const bool is_float = is_floating(type);
  const bool is_signed = is_float || with_element(type, []<class T>() { return std::is_signed_v<T>; });
  word_rule rule;
  switch (kernel) {
    case word_kernel::zeros:
      rule.negated = is_float ? sign : 0;
      break;
    case word_kernel::sum:
      if (row.adds != summand::magnitudes) {
        rule.flipped = is_signed ? sign : 0;
        break;
      }
      [[fallthrough]];
    case word_kernel::squares:
    case word_kernel::product:
      rule.negated = is_signed ? every_bit : 0;
      break;
    default:
      rule.negated = is_float ? sign - 1 : 0;
      rule.flipped = is_signed ? 0 : sign;
      if (kernel == word_kernel::first && row.seeks == extremity::least) rule.flipped ^= every_bit;
      rule.largest_number = presence_rule(row.what, type, nan_policy::skip).largest_number;
      rule.nan = nan_bits(type);
  }
  return rule;
}

}  // namespace

std::size_t word_plan::outputs() const noexcept {
  std::size_t all_outputs = 0;
  for (const step& one : all()) all_outputs += one.loops->outputs;
  return all_outputs;
}

std::optional<word_plan> word_plan_for(const request& request) {
  const operation_row& row = row_of(request.what);
  const element_type type = request.inputs.type();
  const bool is_plain = request.own == nullptr && !request.adds && request.state_bytes == 0;
  if (!is_plain || row.inputs != 1 || is_complex(type) || request.result != default_result(request.what, type))
    return {};
  word_plan plan{{}, 0, type};
  const auto add = [&](word_kernel kernel) {
    plan.steps[plan.count++] = {kernel, rule_for(kernel, row, type), &find_word_loops(kernel, byte_size(type))};
  };
  if (row.result == result_rule::count || row.result == result_rule::truth) {
    add(word_kernel::zeros);
  } else if (row.seeks != extremity::none) {
    add(row.form == result_form::indexed ? word_kernel::first : word_kernel::extrema);
  } else if (is_integer(type)) {
    const bool deviations = row.adds == summand::deviations;
    if (deviations || row.adds == summand::elements || row.adds == summand::magnitudes) add(word_kernel::sum);
    if (deviations || row.adds == summand::squares) add(word_kernel::squares);
    if (request.what == operation::product) add(word_kernel::product);
  }
  return plan.count == 0 ? std::nullopt : std::optional(plan);
}

}  // namespace fanin::cpu
