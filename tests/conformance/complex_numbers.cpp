// SPDX-License-Identifier: Apache-2.0
// Complex numbers: every operation and method over many sizes, against exact sums of their parts, and the values of
// special cases.
#include <cmath>
#include <complex>
#include <limits>

#include "oracle/families.hpp"
#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t lengths[] = {0, 1, 2, 3, 5, 31, 32, 33, 64, 65, 129, 1000, 1023, 1025, 4097, 16389, 200003};

/// x and, for operations of two inputs, another array of the same length, one after the other.
template <class T>
void expect_bounds(const backend& b, std::string_view name, const std::vector<T>& both, findings& found) {
  const std::size_t half = both.size() / 2;
  const auto first = std::span<const T>(both).first(half), second = std::span<const T>(both).subspan(half, half);
  for (const operation what : all_operations) {
    if (!row_of(what).of_complex.fast || !has_value(what, half)) continue;
    const bool pairs = row_of(what).inputs == 2;
    const oracle::complex_truth exact(what, pairs ? std::span<const T>(both).first(2 * half) : first);
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      const options chosen{.method = how, .threads = 3};
      const input_views inputs = pairs ? input_views(first, second) : input_views(first);
      const backend* const only[] = {&b};
      const reduction answer = reduced(b, select(only, b.name(), what, inputs, chosen).what);
      found.expect(exact.judge(answer.value, {b.name(), answer}) != oracle::promise::broken, [&] {
        return std::string(name) + ": " + told(what, first, chosen) + ": " + shown(answer.value) + " instead of " +
               shown(exact.rounded());
      });
    }
  }
}

/// Exact results of c64 as c128.
void expect_wide_results(const backend& b, findings& found) {
  const auto x = mixed_values<std::complex<float>>(10007, 51);
  std::vector<std::complex<double>> wide(x.begin(), x.end());
  for (const operation what : {operation::sum, operation::mean, operation::dot, operation::vdot}) {
    if (!has(b, what, element_type::c64, method::exact)) continue;
    const options exact{.method = method::exact, .result = element_type::c128};
    const scalar value = call(b, what, std::span<const std::complex<float>>(x), exact).value;
    const scalar expected =
        call(b, what, std::span<const std::complex<double>>(wide), {.method = method::exact}).value;
    found.expect(same(value, expected), [&] {
      return told(what, std::span<const std::complex<float>>(x), exact) + ": " + shown(value) + " instead of " +
             shown(expected);
    });
  }
}

template <class T>
struct special_case {
  const char* name;
  std::vector<T> x;
  operation what;
  scalar expected;
};

template <class T>
void expect_special_values(const backend& b, findings& found) {
  using P = part_of<T>;
  using enum operation;
  constexpr P inf = std::numeric_limits<P>::infinity(), nan = std::numeric_limits<P>::quiet_NaN();
  constexpr P most = std::numeric_limits<P>::max(), tiny = std::numeric_limits<P>::denorm_min();
  const T zeros(-0.0f, -0.0f);
  const special_case<T> cases[] = {
      {"nothing", {}, sum, T(0, 0)},
      {"nothing", {}, product, T(1, 0)},
      {"nothing", {}, norm2, P{0}},
      {"nothing", {}, sum_of_magnitudes, P{0}},
      {"nothing", {}, dot, T(0, 0)},
      {"all -0", {zeros, zeros, zeros}, sum, zeros},
      {"all -0", {zeros, zeros, zeros}, mean, zeros},
      {"-0 in one part", {T(-0.0f, 1), T(-0.0f, -1)}, sum, T(-0.0f, 0)},
      {"an infinity in one part", {T(inf, 1), T(2, 3)}, sum, T(inf, 4)},
      {"an infinity in one part", {T(1, -inf), T(2, 3)}, mean, T(P{1.5}, -inf)},
      {"infinities of both signs", {T(inf, 1), T(-inf, 3)}, sum, T(nan, 4)},
      {"a NaN in one part", {T(1, nan), T(2, 3)}, sum, T(3, nan)},
      {"a NaN in one part", {T(1, nan), T(2, 3)}, norm2, nan},
      {"a NaN and an infinity", {T(inf, nan), T(2, 3)}, sum_of_magnitudes, nan},
      {"an infinity", {T(-inf, 3), T(2, 3)}, sum_of_magnitudes, inf},
      {"an infinity", {T(-inf, 3), T(2, 3)}, norm2, inf},
      {"an infinity times 1", {T(inf, 0), T(1, 0)}, product, T(inf, 0)},
      {"i squared", {T(0, 1), T(0, 1)}, product, T(-1, 0)},
      {"zeros", {zeros, zeros}, dot, T(0, 0)},
      {"zeros", {zeros, zeros}, vdot, T(0, 0)},
      {"i with itself", {T(0, 1)}, dot, T(-1, 0)},
      {"i with itself", {T(0, 1)}, vdot, T(1, 0)},
      {"a large modulus", {T(3 * (most / 8), 4 * (most / 8))}, sum_of_magnitudes, 5 * (most / 8)},
      {"a small modulus", {T(3 * tiny, 4 * tiny)}, sum_of_magnitudes, 5 * tiny},
      {"an integer modulus", {T(3, -4), T(-5, 12), T(0, -2)}, sum_of_magnitudes, P{20}},
  };
  for (const special_case<T>& one : cases) {
    const auto x = std::span<const T>(one.x);
    for_each_variant(b, one.what, x, 3, [&](const options& chosen) {
      const scalar value = call(b, one.what, x, chosen).value;
      found.expect(same(value, one.expected), [&] {
        return std::string(one.name) + ": " + told(one.what, x, chosen) + ": " + shown(value) + " instead of " +
               shown(one.expected);
      });
    });
  }
}

}  // namespace

void check_complex_numbers(const backend& b, findings& found) {
  for_each_type<std::complex<float>, std::complex<double>>([&]<class T>(T) {
    for (const std::size_t length : lengths) {
      expect_bounds(b, "mixed", mixed_values<T>(2 * length, length), found);
      expect_bounds(b, "near one", near_one<T>(2 * length, length), found);
    }
    for (const std::string_view family : oracle::accuracy_specs()) {
      expect_bounds(b, family, oracle::generate<T>(family, 20002, 7), found);
    }
    expect_special_values<T>(b, found);
  });
  expect_wide_results(b, found);
}

}  // namespace fanin::test
