// The contract of a backend as checks. Each returns what it found wrong and works on backends outside the registry
// too.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include <fanin/backend.hpp>

#include "tests/support/call.hpp"
#include "tests/support/findings.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {

using check_function = void (*)(const backend& b, findings& found);

struct check {
  const char* name;
  check_function run;
};

/// Every check, the quick ones first.
std::span<const check> checks();

/// What the check of that name finds wrong, one line each; an exception that nobody expected is a finding.
std::string findings_of(std::string_view check_name, const backend& b);

void check_variants(const backend& b, findings& found);
void check_errors(const backend& b, findings& found);
void check_special_values(const backend& b, findings& found);
void check_integer_limits(const backend& b, findings& found);
void check_float_sizes(const backend& b, findings& found);
void check_integer_sizes(const backend& b, findings& found);
void check_bounds(const backend& b, findings& found);
void check_neighbours(const backend& b, findings& found);
void check_reproducibility(const backend& b, findings& found);
void check_blocks(const backend& b, findings& found);
void check_float_environment(const backend& b, findings& found);
void check_concurrent_calls(const backend& b, findings& found);

/// Over 2^32 bytes, of which 64 MiB are real. Not in checks(): under thread sanitizers it takes too much memory.
void check_over_4_gib(const backend& b, findings& found);

/// Calls f with a value of each type.
template <class... Types, class F>
void for_each_type(F f) {
  (f(Types{}), ...);
}
template <class F>
void for_each_float(F f) {
  for_each_type<float, double>(f);
}
template <class F>
void for_each_integer(F f) {
  for_each_type<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(f);
}

/// Whether `b` is to have this reduction, by the tables.
inline bool has(const backend& b, operation what, element_type type, method how) {
  if (!is_floating(type)) return !is_exact_only(what);
  if (is_exact_only(what) && how != method::exact) return false;
  if (what == operation::product) return how == method::fast;
  const bool reference = b.name() == "cub" || b.name() == "thrust";  // whose exact states are for sums only
  return !reference || how != method::exact || !(what == operation::sum_of_squares || is_exact_only(what));
}

/// Every way in which `b` can form this reduction: its variants, each with its own method, that support it.
template <class F>
void for_each_variant(const backend& b, operation what, const array_view& input, unsigned threads, F f) {
  for (const variant_info& v : b.variants()) {
    const request asked{what, input, v.how, default_result(what, input.type), v.name, threads};
    if (!b.supports(asked).usable()) continue;
    f(options{.variant = v.name, .how = v.how, .threads = threads});
  }
}

/// Lengths from one vector to many leaves; the last one is over 2 MiB for every type.
inline constexpr std::size_t telling_lengths[] = {2, 3, 8, 65, 1000, 16389, 700001};

}  // namespace fanin::test
