// SPDX-License-Identifier: Apache-2.0
// Every operation, type and method over the ladder of sizes, from every start within a cache line.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t million = std::size_t{1} << 20;
constexpr std::size_t sizes[] = {0,     1,     2,     3,     4,           5,       8,          10,   13,
                                 16,    17,    31,    32,    33,          63,      64,         65,   127,
                                 128,   129,   255,   256,   257,         4095,    4096,       4097, 65535,
                                 65536, 65537, 65538, 65539, million - 1, million, million + 1};
constexpr std::size_t most_starts = 16;

/// All starts for short inputs, the telling ones for long inputs.
template <class T, class F>
void for_each_window(const std::vector<T>& x, F f) {
  for (const std::size_t size : sizes) {
    for (std::size_t start = 0; start<most_starts; start = size> 1000 ? 2 * start + 1 : start + 1) {
      if (start <= 3 || size < million - 1) f(std::span<const T>(x).subspan(start, size));
    }
  }
}

constexpr options with(method how, unsigned threads = 3) { return {.method = how, .threads = threads}; }

template <class T>
void expect_sums(const backend& b, std::span<const T> x, findings& found) {
  const exact_reference<T> exact(x);
  for (const operation what : all_operations) {
    if (!is_sum(what) || !has_value(what, x.size())) continue;
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      const reduction answer = call(b, what, x, with(how));
      found.expect(exact.keeps(what, fanin::get<computed_as<T>>(answer.value), answer.bound),
                   [&] { return told(what, x, with(how)) + ": " + shown(answer.value) + " breaks its bound"; });
    }
    for (const element_type type : {element_type::f64, type_of<computed_as<T>>, type_of<T>}) {
      if (!has(b, what, type_of<T>, method::exact)) continue;
      options rounded = with(method::exact);
      rounded.result = type;
      const scalar value = call(b, what, x, rounded).value;
      const scalar expected = type == element_type::f64   ? scalar(exact.template rounded<double>(what))
                              : type == element_type::f32 ? scalar(exact.template rounded<float>(what))
                                                          : scalar(exact.template rounded<T>(what));
      found.expect(same(value, expected),
                   [&] { return told(what, x, rounded) + ": " + shown(value) + " instead of " + shown(expected); });
    }
  }
}

template <class T>
void expect_exact_only(const backend& b, std::span<const T> x, findings& found) {
  const exact_reference<T> exact(x);
  for (const operation what : all_operations) {
    if (!is_of_exact_sums(what) || !has(b, what, type_of<T>, method::exact)) continue;
    if (!has_value(what, x.size())) continue;
    for (const element_type type : {element_type::f64, type_of<computed_as<T>>, type_of<T>}) {
      if (type == element_type::e4m3) continue;  // is_rounded() knows no NaN in place of large numbers.
      options rounded = with(method::exact);
      rounded.result = type;
      const scalar value = call(b, what, x, rounded).value;
      const bool is_right = type == element_type::f64   ? exact.is_rounded(what, fanin::get<double>(value))
                            : type == element_type::f32 ? exact.is_rounded(what, fanin::get<float>(value))
                                                        : exact.is_rounded(what, fanin::get<T>(value));
      found.expect(is_right,
                   [&] { return told(what, x, rounded) + ": " + shown(value) + " is not correctly rounded"; });
    }
  }
}

template <class T>
void expect_comparisons(const backend& b, std::span<const T> x, findings& found) {
  for (const operation what : all_operations) {
    if (!only_compares(what) || !has_value(what, x.size())) continue;
    const scalar expected = comparison<T>(x).result(what);
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      const scalar value = call(b, what, x, with(how)).value;
      found.expect(same(value, expected),
                   [&] { return told(what, x, with(how)) + ": " + shown(value) + " instead of " + shown(expected); });
    }
  }
}

/// Factors whose product is exact, whatever the order.
template <class T>
void expect_exact_product(const backend& b, std::span<const T> x, findings& found) {
  if (!has(b, operation::product, type_of<T>, method::fast)) return;
  computed_as<T> expected = 1;
  for (const T v : x) expected *= v;
  const scalar value = call(b, operation::product, x, with(method::fast)).value;
  found.expect(same(value, expected),
               [&] { return told(operation::product, x) + ": " + shown(value) + " instead of " + shown(expected); });
}

/// Against a product in long double, whose own relative error is at most n of its roundings.
template <class T>
void expect_product(const backend& b, std::span<const T> x, findings& found) {
  if (!has(b, operation::product, type_of<T>, method::fast)) return;
  long double expected = 1;
  for (const T v : x) expected *= v;
  const reduction answer = call(b, operation::product, x, with(method::fast));
  const auto slack = static_cast<long double>(x.size() + 8) * std::numeric_limits<long double>::epsilon();
  const long double error = std::abs(static_cast<long double>(fanin::get<computed_as<T>>(answer.value)) - expected);
  const auto limit = static_cast<long double>(answer.bound.of_result);
  found.expect(error <= (limit * (1 + 2 * slack) + slack) * std::abs(expected),
               [&] { return told(operation::product, x) + ": " + shown(answer.value) + " breaks its bound"; });
}

/// log_sum_exp of numbers so close to each other that each of them counts.
template <class T>
void expect_log_sum(const backend& b, std::span<const T> x, findings& found) {
  if (x.empty() || x.size() + 1 >= million || !has(b, operation::log_sum_exp, type_of<T>, method::fast)) return;
  const oracle::truth exact(operation::log_sum_exp, x, 1);
  const reduction answer = call(b, operation::log_sum_exp, x, with(method::fast));
  found.expect(exact.judge(answer.value, {b.name(), answer}) == oracle::promise::kept,
               [&] { return told(operation::log_sum_exp, x) + ": " + shown(answer.value) + " breaks its bound"; });
}

template <class T>
void expect_integers(const backend& b, std::span<const T> x, findings& found) {
  for (const operation what : all_operations) {
    if (!has_value(what, x.size())) continue;
    const auto expected = integer_reference(what, x);
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      std::optional<scalar> value;
      try {
        value = call(b, what, x, with(how)).value;
      } catch (const overflow&) {
      }
      const auto text = [](const std::optional<scalar>& v) { return v ? shown(*v) : std::string("overflow"); };
      found.expect(value.has_value() == expected.has_value() && (!value || same(*value, *expected)),
                   [&] { return told(what, x, with(how)) + ": " + text(value) + " instead of " + text(expected); });
    }
  }
}

}  // namespace

void check_float_sizes(const backend& b, findings& found) {
  for_each_float([&]<class T>(T) {
    for_each_window(mixed_values<T>(million + most_starts, 1), [&](std::span<const T> x) {
      expect_sums(b, x, found);
      expect_exact_only(b, x, found);
      expect_comparisons(b, x, found);
    });
    for_each_window(unit_factors<T>(million + most_starts, 2),
                    [&](std::span<const T> x) { expect_exact_product(b, x, found); });
    for_each_window(near_one<T>(million + most_starts, 3), [&](std::span<const T> x) {
      expect_product(b, x, found);
      expect_log_sum(b, x, found);
    });
  });
}

void check_integer_sizes(const backend& b, findings& found) {
  for_each_integer([&]<class T>(T) {
    for (const auto& x : {mixed_values<T>(million + most_starts, 1), unit_factors<T>(million + most_starts, 2),
                          any_integers<T>(million + most_starts, 3)}) {
      for_each_window(x, [&](std::span<const T> part) { expect_integers(b, part, found); });
    }
  });
}

}  // namespace fanin::test
