// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/checks.hpp"

#include <algorithm>

namespace fanin::test {
namespace {

constexpr check all[] = {
    {"variants", check_variants},
    {"errors", check_errors},
    {"special values", check_special_values, true},
    {"integer limits", check_integer_limits, true},
    {"float sizes", check_float_sizes, true},
    {"integer sizes", check_integer_sizes, true},
    {"complex numbers", check_complex_numbers, true},
    {"bounds", check_bounds},
    {"neighbours", check_neighbours},
    {"reproducibility", check_reproducibility},
    {"blocks", check_blocks},
    {"presence", check_presence},
    {"batches", check_batches},
    {"groups", check_groups},
    {"keys", check_keys, true},
    {"additions", check_additions},
    {"group additions", check_group_additions},
    {"one hash", check_one_hash},
    {"own accumulators", check_own_accumulators},
    {"float environment", check_float_environment},
    {"concurrent calls", check_concurrent_calls},
};

}  // namespace

std::span<const check> checks() { return all; }

std::string findings_of(check_function run, const backend& b) {
  findings found;
  try {
    run(b, found);
  } catch (const findings::enough&) {
  } catch (const std::exception& e) {
    return found.text() + "unexpected exception: " + e.what() + "\n";
  }
  return found.text();
}

std::string findings_of(std::string_view check_name, const backend& b) {
  const auto wanted = std::ranges::find(all, check_name, [](const check& c) { return std::string_view(c.name); });
  return wanted == std::end(all) ? "there is no such check" : findings_of(wanted->run, b);
}

}  // namespace fanin::test
