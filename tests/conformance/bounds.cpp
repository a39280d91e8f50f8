// SPDX-License-Identifier: Apache-2.0
// Every variant's proven bound on inputs from harmless to hopeless.
#include <algorithm>
#include <array>

#include "oracle/families.hpp"
#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {
namespace {

template <class T>
constexpr std::array<std::size_t, 7> bounded_lengths{1, 2, 5, 100, 4099, 70001, long_length<T>};

template <class T>
void expect_bounds(const backend& b, std::string_view family, std::span<const T> x, findings& found) {
  const exact_reference<T> exact(x);
  for (const operation what : all_operations) {
    if (!is_sum(what) || !has_value(what, x.size())) continue;
    for_each_variant(b, what, x, 2, [&](const options& chosen) {
      const reduction answer = call(b, what, x, chosen);
      found.expect(exact.keeps(what, fanin::get<computed_as<T>>(answer.value), answer.bound), [&] {
        return std::string(family) + ": " + told(what, x, chosen) + ": " + shown(answer.value) + " breaks its bound";
      });
      if (chosen.method != method::exact) return;
      const scalar expected = exact.template rounded<computed_as<T>>(what);
      found.expect(same(answer.value, expected), [&] {
        return std::string(family) + ": " + told(what, x, chosen) + ": " + shown(answer.value) + " instead of " +
               shown(expected);
      });
    });
  }
  for (const operation what : all_operations) {
    if (!is_of_exact_sums(what) || !has_value(what, x.size()) || !has(b, what, type_of<T>, method::exact)) continue;
    const auto value = fanin::get<computed_as<T>>(call(b, what, x).value);
    found.expect(exact.is_rounded(what, value), [&] {
      return std::string(family) + ": " + told(what, x) + ": " + shown(value) + " is not correctly rounded";
    });
  }
}

/// log_sum_exp, whose exact result is no sum of floats.
template <class T>
void expect_log_sum_bound(const backend& b, std::string_view family, std::span<const T> x, findings& found) {
  const oracle::truth exact(operation::log_sum_exp, x, 1);
  for_each_variant(b, operation::log_sum_exp, x, 2, [&](const options& chosen) {
    const reduction answer = call(b, operation::log_sum_exp, x, chosen);
    found.expect(exact.judge(answer.value, {b.name(), answer}) == oracle::promise::kept, [&] {
      return std::string(family) + ": " + told(operation::log_sum_exp, x, chosen) + ": " + shown(answer.value) +
             " instead of about " + shown(exact.rounded());
    });
  });
}

/// Results that are subnormal or round to zero.
template <class T>
void expect_tiny_bounds(const backend& b, findings& found) {
  using N = computed_as<T>;
  const N tiny = std::numeric_limits<T>::denorm_min();
  const N root = std::sqrt(N{std::numeric_limits<T>::min()});
  for (const auto& x : {std::vector<N>{tiny, 0, 0},
                        {tiny, tiny, 0},
                        {5 * tiny, 0},
                        {root / 8, root / 16, 0},
                        {root * N{1.5}, root / 1024, root},
                        {tiny, root}}) {
    expect_bounds<T>(b, "tiny", as_elements<T>(x), found);
  }
}

}  // namespace

void check_bounds(const backend& b, findings& found) {
  for_each_float([&]<class T>(T) {
    expect_tiny_bounds<T>(b, found);
    for (const std::string_view family : oracle::accuracy_specs()) {
      for (const std::size_t length : bounded_lengths<T>) {
        // A condition number takes up to 12 elements; fewer are the first of these.
        const auto x =
            as_elements<T>(oracle::generate<computed_as<T>>(family, std::max<std::size_t>(length, 12), length));
        expect_bounds<T>(b, family, std::span<const T>(x).first(length), found);
        expect_log_sum_bound<T>(b, family, std::span<const T>(x).first(length), found);
      }
    }
  });
}

}  // namespace fanin::test
