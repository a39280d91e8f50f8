// SPDX-License-Identifier: Apache-2.0
// The tables of what each answer means: zeros, NaN, infinities, cancellation, subnormals, and roundings at the edges.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tests/conformance/checks.hpp"
#include "tests/support/compared.hpp"

namespace fanin::test {
namespace {

template <class T>
struct row {
  const char* name;
  std::vector<T> x;
  std::optional<computed_as<T>> sum, product, min, max, squares;
  bool every_method = true;  ///< false: the sum is so with method::exact
};

template <class T>
void expect_value(const backend& b, const row<T>& r, operation what, const scalar& expected, const options& chosen,
                  findings& found) {
  const array_view input{std::span<const T>(r.x)};
  const scalar value = call(b, what, input, chosen).value;
  found.expect(same(value, expected), [&] {
    return std::string(r.name) + ": " + told(what, input, chosen) + ": " + shown(value) + " instead of " +
           shown(expected);
  });
}

/// The operations that only compare, by the standard library's comparisons.
template <class T>
void expect_comparisons(const backend& b, const row<T>& r, findings& found) {
  const comparison<T> compared(r.x);
  for (const operation what : all_operations) {
    if (!only_compares(what)) continue;
    const scalar expected = compared.result(what);
    for_each_variant(b, what, std::span<const T>(r.x), 3,
                     [&](const options& chosen) { expect_value(b, r, what, expected, chosen, found); });
  }
}

/// log_sum_exp of elements for which nothing is rounded. These have a NaN, an infinity, or one number besides any
/// -infinity.
template <class T>
std::optional<computed_as<T>> exact_log_sum(const std::vector<T>& x) {
  using limits = std::numeric_limits<computed_as<T>>;
  if (std::ranges::any_of(x, [](T v) { return v != v; })) return limits::quiet_NaN();
  const computed_as<T> largest = *std::ranges::max_element(x);
  const auto least = static_cast<T>(-limits::infinity());
  const auto more = std::ranges::count_if(x, [&](T v) { return v > least; });
  return std::isinf(largest) || more == 1 ? std::optional(largest) : std::nullopt;
}

template <class T>
void expect_row(const backend& b, const row<T>& r, findings& found) {
  using N = computed_as<T>;
  const auto expect = [&](operation what, std::optional<N> expected) {
    if (!expected) return;
    const bool is_element = default_result(what, type_of<T>) == type_of<T>;
    const scalar value = is_element ? scalar(static_cast<T>(*expected)) : scalar(*expected);
    for_each_variant(b, what, std::span<const T>(r.x), 3, [&](const options& chosen) {
      if (r.every_method || chosen.method == method::exact) expect_value(b, r, what, value, chosen, found);
    });
  };
  expect(operation::sum, r.sum);
  if (r.sum && (*r.sum == 0 || !std::isfinite(*r.sum)) && r.every_method) expect(operation::mean, r.sum);
  expect(operation::product, r.product);
  expect(operation::min, r.min);
  expect(operation::max, r.max);
  expect_comparisons(b, r, found);
  expect(operation::log_sum_exp, exact_log_sum(r.x));
  expect(operation::sum_of_squares, r.squares);
  expect(operation::dot, r.squares);
  const bool zeros = std::ranges::all_of(r.x, [](T v) { return v == 0; });
  if (r.squares && (zeros || !std::isfinite(*r.squares))) {
    if (zeros || !std::ranges::all_of(r.x, [](T v) { return std::isfinite(v); })) {
      expect(operation::sum_of_magnitudes, r.squares);
    }
    expect(operation::norm2, r.squares);
    expect(operation::variance, zeros ? N{0} : std::numeric_limits<N>::quiet_NaN());
  }
}

/// `count` times `fill`, but for x[p] = at_p and x[q] = at_q.
template <class T>
std::vector<T> field(std::size_t count, computed_as<T> fill, std::size_t p, computed_as<T> at_p, std::size_t q,
                     computed_as<T> at_q) {
  std::vector<T> x(count, static_cast<T>(fill));
  x[q] = static_cast<T>(at_q);
  x[p] = static_cast<T>(at_p);
  return x;
}

template <class T>
void expect_zeros_and_infinities(const backend& b, std::size_t n, std::size_t p, std::size_t q, findings& found) {
  using N = computed_as<T>;
  constexpr N inf = std::numeric_limits<N>::infinity();
  constexpr N nan = std::numeric_limits<N>::quiet_NaN();
  const N tiny = std::numeric_limits<T>::denorm_min();
  const N odd = n % 2 == 1 ? N{-1} : N{1};
  const N even = -odd;
  // Products of the smallest numbers are zero where T has the exponents of the numbers that are computed with.
  const auto vanishing = computable<T> ? std::optional<N>(N{0}) : std::nullopt;
  const auto zero = [](N sign) { return std::copysign(N{0}, sign); };
  const auto at = [&](N fill, N at_p, N at_q) { return field<T>(n, fill, p, at_p, q, at_q); };
  const row<T> rows[] = {
      {"all -0", at(-0.0, -0.0, -0.0), N(-0.0), zero(odd), N(-0.0), N(-0.0), N{0}},
      {"-0 and one +0", at(-0.0, 0, -0.0), N{0}, zero(even), N(-0.0), N{0}, N{0}},
      {"+0 and one -0", at(0, -0.0, 0), N{0}, N(-0.0), N(-0.0), N{0}, N{0}},
      {"one inf", at(1, inf, 1), inf, inf, N{1}, inf, inf},
      {"one -inf", at(1, -inf, 1), -inf, -inf, -inf, N{1}, inf},
      {"all -inf", at(-inf, -inf, -inf), -inf, odd * inf, -inf, -inf, inf},
      {"one number among -inf", at(-inf, 3, -inf), -inf, even * inf, -inf, N{3}, inf},
      {"inf and -inf", at(1, inf, -inf), nan, -inf, -inf, inf, inf},
      {"inf and NaN", at(1, inf, nan), nan, nan, nan, nan, nan},
      {"-inf and NaN", at(1, -inf, nan), nan, nan, nan, nan, nan},
      {"inf and 0", at(1, inf, 0), inf, nan, N{0}, inf, inf},
      {"cancellation over +0", at(0, 3, -3), N{0}, {}, N{-3}, N{3}, N{18}},
      {"cancellation over -0", at(-0.0, -3, 3), N{0}, {}, N{-3}, N{3}, N{18}},
      {"subnormals", at(tiny, tiny, tiny), static_cast<N>(n) * tiny, vanishing, tiny, tiny, vanishing},
      {"subnormals of both signs", at(tiny, -tiny, -tiny), (static_cast<N>(n) - 4) * tiny, {}, -tiny, {}, vanishing},
  };
  for (const auto& r : rows) {
    const bool infinity_is_nan =
        !std::numeric_limits<T>::has_infinity && std::ranges::any_of(r.x, [](T v) { return v != v; });
    if (!infinity_is_nan) expect_row(b, r, found);
  }
}

template <class T>
void expect_nan(const backend& b, std::size_t n, std::size_t p, std::size_t q, findings& found) {
  using word = decltype(bits_of(T{}));
  constexpr auto quiet = std::bit_cast<word>(std::numeric_limits<T>::quiet_NaN());
  constexpr auto signalling = static_cast<word>(std::bit_cast<word>(std::numeric_limits<T>::infinity()) | 1);
  constexpr auto minus = static_cast<word>(word{1} << (8 * sizeof(T) - 1));
  constexpr auto nan = std::numeric_limits<computed_as<T>>::quiet_NaN();
  for (const word bits : {quiet, static_cast<word>(quiet | minus), static_cast<word>(quiet | 5), signalling,
                          static_cast<word>(signalling | minus)}) {
    std::vector<T> x(n, T{1.5});
    x[q] = T{-2};
    x[p] = std::bit_cast<T>(bits);
    expect_row(b, row<T>{"one NaN", std::move(x), nan, nan, nan, nan, nan}, found);
  }
}

template <class T>
void expect_roundings(const backend& b, std::size_t n, std::size_t p, std::size_t q, findings& found) {
  using limits = std::numeric_limits<T>;
  constexpr T inf = limits::infinity();
  constexpr T most = limits::max();
  const T half_ulp = std::ldexp(T{1}, limits::max_exponent - limits::digits - 1);
  const T half_epsilon = limits::epsilon() / 2;
  const auto at = [&](T at_p, T at_q) { return field<T>(n, 0, p, at_p, q, at_q); };
  const auto expect = [&](const char* name, std::vector<T> x, T sum) {
    expect_row(b, row<T>{name, std::move(x), sum, {}, {}, {}, {}, false}, found);
  };
  expect("max + half an ulp", at(most, half_ulp), inf);
  expect("-max - half an ulp", at(-most, -half_ulp), -inf);
  expect("max + less than half an ulp", at(most, std::nextafter(half_ulp, T{0})), most);
  expect("max + max", at(most, most), inf);
  expect("tie to even", at(1, half_epsilon), 1);
  expect("negative tie to even", at(-1, -half_epsilon), -1);
  expect("tie to even, upwards", at(1 + limits::epsilon(), half_epsilon), 1 + 2 * limits::epsilon());
  if (n < 3) return;
  const std::size_t third = p + q == 1 ? 2 : p != 0 && q != 0 ? 0 : p != 1 && q != 1 ? 1 : 2;
  const auto with_third = [&](T at_p, T at_q, T last) {
    auto x = at(at_p, at_q);
    x[third] = last;
    return x;
  };
  expect("max + max - max", with_third(most, most, -most), most);
  expect("above a tie", with_third(1, half_epsilon, limits::denorm_min()), 1 + limits::epsilon());
  expect("negative above a tie", with_third(-1, -half_epsilon, -limits::denorm_min()), -1 - limits::epsilon());
  expect("below a tie", with_third(1 + limits::epsilon(), half_epsilon, -limits::denorm_min()),
         1 + limits::epsilon());
  expect("what cancels leaves the rest", with_third(most, -most, limits::denorm_min()), limits::denorm_min());
}

}  // namespace

void check_special_values(const backend& b, findings& found) {
  for_each_float([&]<class T>(T) {
    using N = computed_as<T>;
    const row<T> empty{"empty", {}, N{0}, N{1}, {}, {}, N{0}};
    for (const operation what : all_operations) {
      if (!has_value(what, 0)) continue;
      const empty_value of_nothing = row_of(what).empty;
      const N value = of_nothing == empty_value::one              ? N{1}
                      : of_nothing == empty_value::minus_infinity ? -std::numeric_limits<N>::infinity()
                                                                  : N{0};
      const scalar expected = only_compares(what) ? comparison<T>().result(what) : scalar(value);
      for_each_variant(b, what, std::span<const T>(), 3,
                       [&](const options& chosen) { expect_value(b, empty, what, expected, chosen, found); });
    }
    for (const std::size_t n : telling_lengths) {
      const std::size_t places[] = {0, n / 2, n - 1};
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t p = places[i];
        const std::size_t q = places[(i + 1) % 3] != p ? places[(i + 1) % 3] : n - 1 - p;
        expect_zeros_and_infinities<T>(b, n, p, q, found);
        expect_nan<T>(b, n, p, q, found);
        if constexpr (computable<T>) expect_roundings<T>(b, n, p, q, found);
        if (n > 100000) break;
      }
    }
  });
}

}  // namespace fanin::test
