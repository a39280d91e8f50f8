// SPDX-License-Identifier: Apache-2.0
// A result says for what its bits are the same: every thread count, instruction set, order, split or call. The
// tests check that.
#include <algorithm>
#include <array>

#include "tests/conformance/checks.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr unsigned thread_counts[] = {7, 1, 2, 3, 16};
template <class T>
constexpr std::array<std::size_t, 4> repeated_lengths{17, 1000, 16389, cut_length<T>};

/// Fixed order: the serial backend on the best instruction set has the bits of all. It has one thread, whatever is
/// asked for. The other instruction sets have one number of threads, unless `in_full`.
void expect_fixed_order(const backend& b, operation what, const array_view& input, options chosen, bool in_full,
                        findings& found) {
  chosen.threads = 1;
  const scalar expected = call(find_backend("serial"), what, input, chosen).value;
  const auto every = std::span(thread_counts).first(b.name() == "serial" ? 2 : std::size(thread_counts));
  const auto targets = hwy::SupportedAndGeneratedTargets();
  for (const auto target : targets) {
    const only_target here(target);
    for (const unsigned threads : in_full || target == targets.front() ? every : every.first(1)) {
      chosen.threads = threads;
      const scalar value = call(b, what, input, chosen).value;
      found.expect(same(value, expected), [&] {
        return told(what, input, chosen) + ", " + hwy::TargetName(target) + ": " + shown(value) + " instead of " +
               shown(expected);
      });
    }
  }
}

void expect_run_to_run(const backend& b, operation what, const array_view& input, const options& chosen,
                       findings& found) {
  const scalar first = call(b, what, input, chosen).value;
  for (int i = 0; i < 5; ++i) {
    const scalar value = call(b, what, input, chosen).value;
    found.expect(same(value, first),
                 [&] { return told(what, input, chosen) + ": " + shown(value) + " after " + shown(first); });
  }
}

/// The first `length` elements in ascending order.
template <class T>
std::vector<T> sorted_part(const std::vector<T>& all, std::size_t length) {
  const auto part = std::span(all).first(length);
  std::vector<computed_as<T>> sorted;
  for (const T v : part) sorted.push_back(static_cast<computed_as<T>>(v));
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    if constexpr (complex_number<T>) return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
    if constexpr (!complex_number<T>) return a < b;
  });
  std::vector<T> elements;
  for (const auto& v : sorted) elements.push_back(static_cast<T>(v));
  return elements;
}

/// `sorted`: the elements of x in ascending order.
template <class T>
void expect_as_promised(const backend& b, operation what, std::span<const T> x, std::span<const T> sorted,
                        const options& chosen, bool in_full, findings& found) {
  switch (call(b, what, x, chosen).reproducibility) {
    case reproducibility::exact: {
      const bool of_order = row_of(what).form == result_form::indexed;
      const scalar expected = call(b, what, of_order ? x : sorted, chosen).value;
      const scalar value = call(b, what, x, chosen).value;
      found.expect(same(value, expected),
                   [&] { return told(what, x, chosen) + ": depends on the order, or on the call"; });
      return expect_fixed_order(b, what, x, chosen, in_full, found);
    }
    case reproducibility::fixed_order:
      return expect_fixed_order(b, what, x, chosen, in_full, found);
    case reproducibility::run_to_run:
      return expect_run_to_run(b, what, x, chosen, found);
    case reproducibility::none:
      return;
  }
}

void expect_reproducibility(const backend& b, bool in_full, findings& found) {
  for_each_rounded([&]<class T>(T) {
    const auto values = mixed_values<T>(cut_length<T>, 11);
    const auto factors = near_one<T>(cut_length<T>, 12);
    for (const std::size_t length : repeated_lengths<T>) {
      const auto sorted_values = sorted_part(values, length), sorted_factors = sorted_part(factors, length);
      for (const operation what : all_operations) {
        const bool multiplies = what == operation::product;
        const auto x = std::span<const T>(multiplies ? factors : values).first(length);
        const auto sorted = std::span<const T>(multiplies ? sorted_factors : sorted_values);
        for (const method how : all_methods) {
          if (!has(b, what, type_of<T>, how)) continue;
          expect_as_promised(b, what, x, sorted, {.method = how}, in_full, found);
        }
      }
    }
  });
}

}  // namespace

void check_reproducibility(const backend& b, findings& found) { expect_reproducibility(b, false, found); }
void check_reproducibility_in_full(const backend& b, findings& found) { expect_reproducibility(b, true, found); }

}  // namespace fanin::test
