// SPDX-License-Identifier: Apache-2.0
// The contract of a backend as checks. Each check returns the faults that it found, and works on backends outside
// the registry too.
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
  /// True if the check compares values of ordinary elements alone. Two backends that share out their tasks by the
  /// same code get the same values.
  bool of_values = false;
};

/// Every check, the quick ones first.
std::span<const check> checks();

/// The findings of a check, or of the check with this name, one line each. An exception that nobody expected is a
/// finding.
std::string findings_of(check_function run, const backend& b);
std::string findings_of(std::string_view check_name, const backend& b);

void check_variants(const backend& b, findings& found);
void check_errors(const backend& b, findings& found);
/// These two checks need no usable backend, and so are not in checks().
void check_offers(const backend& b, findings& found);
void check_partial_batches(const backend& b, findings& found);
void check_special_values(const backend& b, findings& found);
void check_integer_limits(const backend& b, findings& found);
void check_float_sizes(const backend& b, findings& found);
void check_integer_sizes(const backend& b, findings& found);
void check_complex_numbers(const backend& b, findings& found);
void check_bounds(const backend& b, findings& found);
void check_neighbours(const backend& b, findings& found);
void check_reproducibility(const backend& b, findings& found);
void check_blocks(const backend& b, findings& found);
void check_presence(const backend& b, findings& found);
void check_batches(const backend& b, findings& found);
void check_groups(const backend& b, findings& found);
void check_keys(const backend& b, findings& found);
void check_additions(const backend& b, findings& found);
void check_group_additions(const backend& b, findings& found);
void check_one_hash(const backend& b, findings& found);
void check_own_accumulators(const backend& b, findings& found);
void check_float_environment(const backend& b, findings& found);
void check_concurrent_calls(const backend& b, findings& found);

/// These two checks are the checks of the same name with every instruction set on every number of threads, and with
/// every number of results. They are not in checks(), because they take minutes.
void check_reproducibility_in_full(const backend& b, findings& found);
void check_one_hash_in_full(const backend& b, findings& found);

/// Checks arrays of over 2^32 bytes. Only 64 MiB are real memory. This check is not in checks(), because it takes
/// too much memory under thread sanitizers.
void check_over_4_gib(const backend& b, findings& found);

/// Calls f with a value of each of the types.
template <class... Types, class F>
void for_each_type(F f) {
  (f(Types{}), ...);
}
/// Calls f with a value of each type of the catalogue.
template <class F>
void for_each_element(F f) {
  for (const element_type type : all_element_types) with_element(type, [&]<class T>() { f(T{}); });
}
template <class F>
void for_each_float(F f) {
  for_each_element([&]<class T>(T x) {
    if constexpr (floating<T>) f(x);
  });
}
/// Floats and complex numbers.
template <class F>
void for_each_rounded(F f) {
  for_each_element([&]<class T>(T x) {
    if constexpr (!std::is_integral_v<T>) f(x);
  });
}
template <class F>
void for_each_integer(F f) {
  for_each_element([&]<class T>(T x) {
    if constexpr (std::is_integral_v<T>) f(x);
  });
}

/// Operations that add up rounded terms, with every method.
inline bool is_sum(operation what) {
  const operation_row& row = row_of(what);
  return row.of_floats.fast && row.of_floats.exact && !row.unrounded;
}
/// Operations whose exact values are roots and quotients of exact sums.
inline bool is_of_exact_sums(operation what) {
  const operation_row& row = row_of(what);
  return is_root(row.value) || row.adds == summand::deviations;
}
inline bool has_value(operation what, std::uint64_t count) { return count >= least_count(what); }

/// Whether `b` has to have this reduction. A backend has to have the reductions of the catalogue, with these
/// exceptions. Devices, also behind a stand-in, leave dot products of integers to CPUs. cub and thrust have f32,
/// f64, i32 and i64, and cub has bf16. They compensate nothing. Their exact states are for sums and means of f32
/// and f64 only.
inline bool has(const backend& b, operation what, element_type type, method how) {
  if (!is_offered(what, type, how)) return false;
  const bool on_device = b.home() == memory::device || b.name() == "cuda";
  if (is_integer(type) && row_of(what).adds == summand::products && on_device) return false;
  if (b.name() != "cub" && b.name() != "thrust") return true;
  if (how == method::compensated) return false;
  using enum element_type;
  const bool compared = type == f32 || type == f64 || type == i32 || type == i64;
  if (!compared && (type != bf16 || b.name() == "thrust")) return false;
  const bool of_sums = (what == operation::sum || what == operation::mean) && byte_size(type) >= 4;
  return how != method::exact || !is_floating(type) || row_of(what).unrounded || of_sums;
}

/// Every way in which `b` can form this reduction: its variants, each with its own method, that support it.
template <class F>
void for_each_variant(const backend& b, operation what, const array_view& input, unsigned threads, F f) {
  for (const variant_info& v : b.variants()) {
    const request wanted{what, inputs_for(what, input), v.method, default_result(what, input.type), v.name, threads};
    if (!b.supports(wanted).usable()) continue;
    f(options{.variant = v.name, .method = v.method, .threads = threads});
  }
}

/// A length of over 2 MiB, which CPU backends cut into chunks.
template <class T>
inline constexpr std::size_t cut_length = (std::size_t{5} << 19) / sizeof(T) + 7;
/// The length of long inputs in checks that take minutes. Elements of 8 and 16 bits are not cut.
template <class T>
inline constexpr std::size_t long_length = std::min<std::size_t>(cut_length<T>, 700001);

/// Lengths from one vector to many leaves. The last one is over 2 MiB for elements of 4 bytes and more.
inline constexpr std::size_t telling_lengths[] = {2, 3, 8, 65, 1000, 16389, 700001};

}  // namespace fanin::test
