// SPDX-License-Identifier: Apache-2.0
// Every operation, type and method over the ladder of sizes, from every start within a cache line.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

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

/// All starts for short windows, the telling ones for long windows, and one for each size near a million.
std::vector<std::size_t> starts_of(std::size_t size) {
  if (size == million - 1) return {0};
  if (size == million) return {1};
  if (size == million + 1) return {3};
  if (size > 1000) return {0, 1, 3, 7, most_starts - 1};
  std::vector<std::size_t> all(most_starts);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Calls f(window, its start in x, its Reference). Sizes ascend, so the elements that all later windows share are
/// added to a Reference once.
template <class Reference, class T, class F>
void for_each_window(const std::vector<T>& x, F f) {
  const auto add = [&](Reference& to, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) to.add(x[i], i);
  };
  Reference shared;
  std::size_t shared_end = most_starts;
  for (const std::size_t size : sizes) {
    add(shared, shared_end, size);
    shared_end = std::max(shared_end, size);
    for (const std::size_t start : starts_of(size)) {
      Reference of_window = shared;
      add(of_window, start, std::min(most_starts, start + size));
      add(of_window, shared_end, start + size);
      f(std::span<const T>(x).subspan(start, size), start, of_window);
    }
  }
}

template <class T>
struct float_reference {
  exact_reference<T> exact;
  comparison<T> compared;
  void add(T v, std::size_t place) {
    exact.add(v);
    compared.add(v, place);
  }
};

template <class N>
struct product_reference {
  N product = 1;
  void add(N v, std::size_t) { product *= v; }
};

constexpr options with(method how, unsigned threads = 3) { return {.method = how, .threads = threads}; }

/// The types of exact results, each once.
template <class T>
std::vector<element_type> exact_results() {
  std::vector<element_type> types{element_type::f64};
  for (const element_type type : {type_of<computed_as<T>>, type_of<T>}) {
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

template <class T>
void expect_sums(const backend& b, std::span<const T> x, const exact_reference<T>& exact, findings& found) {
  for (const operation what : all_operations) {
    if (!is_sum(what) || !has_value(what, x.size())) continue;
    for (const method how : all_methods) {
      if (!has(b, what, type_of<T>, how)) continue;
      const reduction answer = call(b, what, x, with(how));
      found.expect(exact.keeps(what, fanin::get<computed_as<T>>(answer.value), answer.bound),
                   [&] { return told(what, x, with(how)) + ": " + shown(answer.value) + " breaks its bound"; });
    }
    for (const element_type type : exact_results<T>()) {
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
void expect_exact_only(const backend& b, std::span<const T> x, const exact_reference<T>& exact, findings& found) {
  for (const operation what : all_operations) {
    if (!is_of_exact_sums(what) || !has(b, what, type_of<T>, method::exact)) continue;
    if (!has_value(what, x.size())) continue;
    for (const element_type type : exact_results<T>()) {
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
void expect_comparisons(const backend& b, std::span<const T> x, std::size_t start, const comparison<T>& compared,
                        findings& found) {
  for (const operation what : all_operations) {
    if (!only_compares(what) || !has_value(what, x.size())) continue;
    const scalar expected = compared.result(what, start);
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
void expect_exact_product(const backend& b, std::span<const T> x, computed_as<T> expected, findings& found) {
  if (!has(b, operation::product, type_of<T>, method::fast)) return;
  const scalar value = call(b, operation::product, x, with(method::fast)).value;
  found.expect(same(value, expected),
               [&] { return told(operation::product, x) + ": " + shown(value) + " instead of " + shown(expected); });
}

/// Against a product in long double, whose own relative error is at most n of its roundings.
template <class T>
void expect_product(const backend& b, std::span<const T> x, long double expected, findings& found) {
  if (!has(b, operation::product, type_of<T>, method::fast)) return;
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
void expect_integers(const backend& b, std::span<const T> x, std::size_t start, const integer_reference<T>& exact,
                     findings& found) {
  for (const operation what : all_operations) {
    if (!has_value(what, x.size())) continue;
    const auto expected = exact.result(what, start);
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
    using N = computed_as<T>;
    for_each_window<float_reference<T>>(
        mixed_values<T>(million + most_starts, 1),
        [&](std::span<const T> x, std::size_t start, const float_reference<T>& right) {
          expect_sums(b, x, right.exact, found);
          expect_exact_only(b, x, right.exact, found);
          expect_comparisons(b, x, start, right.compared, found);
        });
    for_each_window<product_reference<N>>(unit_factors<T>(million + most_starts, 2),
                                          [&](std::span<const T> x, std::size_t, const product_reference<N>& right) {
                                            expect_exact_product(b, x, right.product, found);
                                          });
    for_each_window<product_reference<long double>>(
        near_one<T>(million + most_starts, 3),
        [&](std::span<const T> x, std::size_t, const product_reference<long double>& right) {
          expect_product(b, x, right.product, found);
          expect_log_sum(b, x, found);
        });
  });
}

void check_integer_sizes(const backend& b, findings& found) {
  for_each_integer([&]<class T>(T) {
    for (const auto& x : {mixed_values<T>(million + most_starts, 1), unit_factors<T>(million + most_starts, 2),
                          any_integers<T>(million + most_starts, 3)}) {
      for_each_window<integer_reference<T>>(
          x, [&](std::span<const T> part, std::size_t start, const integer_reference<T>& right) {
            expect_integers(b, part, start, right, found);
          });
    }
  });
}

}  // namespace fanin::test
