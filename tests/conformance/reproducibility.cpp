// SPDX-License-Identifier: Apache-2.0
// A result says for what its bits are the same: every thread count, instruction set, order, split or call. The
// tests check that.
#include <algorithm>
#include <array>

#include "tests/conformance/checks.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr unsigned thread_counts[] = {1, 2, 3, 7, 16};
template <class T>
constexpr std::array<std::size_t, 4> repeated_lengths{17, 1000, 16389, cut_length<T>};

/// Fixed order: the serial backend on the best instruction set has the bits of all. It has one thread, whatever is
/// asked for.
void expect_fixed_order(const backend& b, operation what, const array_view& input, options chosen, findings& found) {
  chosen.threads = 1;
  const scalar expected = call(find_backend("serial"), what, input, chosen).value;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    const only_target here(target);
    for (const unsigned threads :
         std::span(thread_counts).first(b.name() == "serial" ? 2 : std::size(thread_counts))) {
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

template <class T>
bool below(const T& a, const T& b) {
  if constexpr (complex_number<T>) return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
  if constexpr (!complex_number<T>) return a < b;
}

/// `sorted`: the elements of x in ascending order.
template <class T>
void expect_as_promised(const backend& b, operation what, std::span<const T> x, std::span<const T> sorted,
                        const options& chosen, findings& found) {
  switch (call(b, what, x, chosen).reproducibility) {
    case reproducibility::exact: {
      const bool of_order = row_of(what).form == result_form::indexed;
      const scalar expected = call(b, what, of_order ? x : sorted, chosen).value;
      const scalar value = call(b, what, x, chosen).value;
      found.expect(same(value, expected),
                   [&] { return told(what, x, chosen) + ": depends on the order, or on the call"; });
      return expect_fixed_order(b, what, x, chosen, found);
    }
    case reproducibility::fixed_order:
      return expect_fixed_order(b, what, x, chosen, found);
    case reproducibility::run_to_run:
      return expect_run_to_run(b, what, x, chosen, found);
    case reproducibility::none:
      return;
  }
}

}  // namespace

void check_reproducibility(const backend& b, findings& found) {
  for_each_rounded([&]<class T>(T) {
    const auto values = mixed_values<T>(cut_length<T>, 11);
    const auto factors = near_one<T>(cut_length<T>, 12);
    const auto sorted_part = [](const std::vector<T>& all, std::size_t length) {
      std::vector<T> sorted(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length));
      std::ranges::sort(sorted, below<T>);
      return sorted;
    };
    for (const std::size_t length : repeated_lengths<T>) {
      const auto sorted_values = sorted_part(values, length), sorted_factors = sorted_part(factors, length);
      for (const operation what : all_operations) {
        const bool multiplies = what == operation::product;
        const auto x = std::span<const T>(multiplies ? factors : values).first(length);
        const auto sorted = std::span<const T>(multiplies ? sorted_factors : sorted_values);
        for (const method how : all_methods) {
          if (!has(b, what, type_of<T>, how)) continue;
          expect_as_promised(b, what, x, sorted, {.method = how}, found);
        }
      }
    }
  });
}

}  // namespace fanin::test
