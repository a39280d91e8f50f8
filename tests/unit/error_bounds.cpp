// SPDX-License-Identifier: Apache-2.0
// Tests that no value is farther from the exact result, which MPFR computes, than result::error_bound() says.
#include <doctest/doctest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/call.hpp"
#include "tests/support/hard_inputs.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A number of so many digits that its roundings do not show beside the roundings of doubles.
class real {
 public:
  static constexpr mpfr_prec_t bits = 4500;
  real(double value = 0) {
    mpfr_init2(value_, bits);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  template <std::integral T>
  real(T value) : real(0.0) {
    if constexpr (std::is_signed_v<T>) mpfr_set_si(value_, value, MPFR_RNDN);
    if constexpr (!std::is_signed_v<T>) mpfr_set_ui(value_, value, MPFR_RNDN);
  }
  real(const real& other) : real() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  ~real() { mpfr_clear(value_); }
  real& operator=(const real& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  friend real operator+(real a, const real& b) { return mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend real operator-(real a, const real& b) { return mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend real operator*(real a, const real& b) { return mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend real operator/(real a, const real& b) { return mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend real root(real a) { return mpfr_sqrt(a.value_, a.value_, MPFR_RNDN), a; }
  friend real length(real a, const real& b) { return mpfr_hypot(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  /// These functions have fewer digits, but many more than a double.
  friend real exponential(const real& a) { return short_function(a, mpfr_exp); }
  friend real logarithm(const real& a) { return short_function(a, mpfr_log); }
  bool is_above(double other) const { return mpfr_cmp_d(value_, other) > 0; }
  bool operator<(const real& other) const { return mpfr_less_p(value_, other.value_) != 0; }

 private:
  static real short_function(const real& a, int (*f)(mpfr_t, const mpfr_t, mpfr_rnd_t)) {
    mpfr_t few;
    mpfr_init2(few, 256);
    f(few, a.value_, MPFR_RNDN);
    real result;
    mpfr_set(result.value_, few, MPFR_RNDN);
    mpfr_clear(few);
    return result;
  }
  mpfr_t value_;
};

struct parts {
  real re, im;
};
parts operator+(const parts& a, const parts& b) { return {a.re + b.re, a.im + b.im}; }
parts operator*(const parts& a, const parts& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
real size(const parts& a) { return length(a.re, a.im); }

template <class T>
parts parts_of(const T& x) {
  if constexpr (complex_number<T>) return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
  if constexpr (std::is_integral_v<T>) return {real(x), 0};
  if constexpr (floating<T>) return {static_cast<double>(x), 0};
}

template <class T>
bool is_finite(const T& x) {
  if constexpr (complex_number<T>) return std::isfinite(x.real()) && std::isfinite(x.imag());
  if constexpr (std::is_integral_v<T>) return true;
  if constexpr (floating<T>) return std::isfinite(static_cast<double>(x));
}

/// The exact result of an operation that rounds, on finite elements.
template <class T>
parts exact_result(operation what, const std::vector<T>& x, const std::vector<T>& y) {
  const operation_row& row = row_of(what);
  const real count(static_cast<std::uint64_t>(x.size()));
  parts total{what == operation::product ? 1.0 : 0.0, 0};
  if (row.adds == summand::exponentials) {
    real largest = parts_of(x[0]).re;
    for (const T& v : x) largest = largest < parts_of(v).re ? parts_of(v).re : largest;
    real sum;
    for (const T& v : x) sum = sum + exponential(parts_of(v).re - largest);
    return {largest + logarithm(sum), 0};
  }
  real squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const parts v = parts_of(x[i]);
    if (row.adds == summand::squares || row.adds == summand::deviations) {
      squares = squares + (v.re * v.re + v.im * v.im);
    }
    if (row.adds == summand::none) {
      total = total * v;
    } else if (row.adds == summand::magnitudes) {
      total.re = total.re + size(v);
    } else if (row.adds == summand::products) {
      total = total + (what == operation::vdot ? parts{v.re, 0 - v.im} : v) * parts_of(y[i]);
    } else {
      total = total + v;
    }
  }
  if (row.adds == summand::squares) return {row.value == sum_value::root ? root(squares) : squares, 0};
  if (row.adds == summand::deviations) {
    const real variance = (squares - total.re * total.re / count) / (count - (least_count(what) > 1 ? 1.0 : 0.0));
    return {is_root(row.value) ? root(variance) : variance, 0};
  }
  return row.value == sum_value::mean ? parts{total.re / count, total.im / count} : total;
}

/// How far the value is from the exact result, or infinity if the value is not finite.
template <class T>
bool is_farther(const scalar& value, const parts& exact, double limit) {
  return fanin::visit(
      [&]<class R>(const R& v) {
        if constexpr (element<R>) {
          if (!is_finite(v)) return limit < infinity;
          const parts got = parts_of(v);
          return size({got.re - exact.re, got.im - exact.im}).is_above(limit);
        } else {
          return true;
        }
      },
      value);
}

struct tally {
  std::size_t finite = 0, infinite = 0;
};

/// Whether some number of the operation is rounded for elements of this type.
bool rounds(operation what, element_type type) {
  return !row_of(what).unrounded && (!is_integer(type) || default_result(what, type) == element_type::f64);
}

/// Checks the bound of one result against the exact result of the elements that take part.
template <class T>
void expect_bound(operation what, const input_views& inputs, const std::vector<T>& x, const std::vector<T>& y,
                  const options& chosen, tally& seen) {
  if (x.size() < least_count(what)) return;
  const std::string text = told(what, inputs[0], chosen);
  CAPTURE(text);
  result<scalar> got;
  try {
    got = reduce(what, inputs, chosen);
  } catch (const overflow&) {
    return;
  }
  const double bound = got.error_bound();
  CHECK(got.why_unbounded().empty() == (bound < infinity));
  ++(bound < infinity ? seen.finite : seen.infinite);
  if (!rounds(what, type_of<T>)) {
    CHECK(bound == 0);
  } else if (bound < infinity && std::ranges::all_of(x, is_finite<T>) && std::ranges::all_of(y, is_finite<T>)) {
    CHECK_FALSE(is_farther<T>(got.value, exact_result(what, x, y), bound));
  }
}

/// All operations and methods on x and the same numbers from the last to the first.
template <class T>
void expect_bounds(const std::vector<T>& x, tally& asked, tally& not_asked) {
  const std::vector<T> y(x.rbegin(), x.rend());
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (!is_offered(what, type_of<T>, how) || (how != method::exact && !rounds(what, type_of<T>))) continue;
      const bool pairs = row_of(what).inputs == 2;
      const input_views one{std::span<const T>(x)}, two{std::span<const T>(x), std::span<const T>(y)};
      for (const bool wants_bound : {true, false}) {
        expect_bound(what, pairs ? two : one, x, pairs ? y : std::vector<T>(),
                     {.backend = "serial", .method = how, .bound = wants_bound}, wants_bound ? asked : not_asked);
      }
    }
  }
}

}  // namespace

TEST_SUITE("unit/error_bounds") {
  TEST_CASE("no value is farther from the exact result than its bound says") {
    for (const element_type type : all_element_types) {
      with_element(type, [&]<class T>() {
        tally asked, not_asked;
        for (const std::size_t count : {1, 2, 17, 150}) {
          for (const std::vector<T>& x : hard_inputs<T>(count, count)) expect_bounds(x, asked, not_asked);
          expect_bounds(mixed_values<T>(count, count), asked, not_asked);
          expect_bounds(near_one<T>(count, count), asked, not_asked);
        }
        CAPTURE(to_string(type));
        CHECK(asked.finite > not_asked.finite - (is_integer(type) ? 1 : 0));
      });
    }
  }

  TEST_CASE("bounds that are computed leave absent elements out") {
    generator random(5);
    tally seen;
    for (const element_type type : {element_type::f32, element_type::f64, element_type::bf16, element_type::c128}) {
      with_element(type, [&]<class T>() {
        const masked_case<T> some = masked(mixed_values<T>(300, 7), 10, 4, random);
        const mask_view mask{some.mask.data(), 0, mask_form::bytes};
        const auto bits = bits_of_mask(some.mask, 3);
        for (const operation what : all_operations) {
          if (row_of(what).inputs == 2 || !is_offered(what, type, method::fast)) continue;
          for (const mask_view& one : {mask, mask_view{bits.data(), 3, mask_form::bits}}) {
            expect_bound(what, input_views(std::span<const T>(some.x)).where(one), some.compacted(), {},
                         {.method = method::fast, .nan = nan_policy::skip, .bound = true}, seen);
          }
        }
      });
    }
    CHECK(seen.finite > 2 * seen.infinite);
  }

  TEST_CASE("long sums by several threads, and the bound of a mean and of a norm") {
    for (const operation what : {operation::sum, operation::mean, operation::norm2, operation::variance}) {
      const std::vector<float> x = mixed_values<float>(70001, 3);
      tally seen;
      expect_bound(what, std::span<const float>(x), x, {}, {.method = method::fast, .threads = 2, .bound = true},
                   seen);
      CHECK(seen.finite == 1);
    }
  }

  TEST_CASE("an exact result is off by half of its last digit, and what is not rounded by nothing") {
    CHECK(sum(std::vector<double>{1, 0x1p-60}).error_bound() == 0x1p-53);
    CHECK(sum(std::vector<float>{1, 0x1p-60f}).error_bound() == 0x1p-24);
    CHECK(sum<double>(std::vector<float>{1, 0x1p-60f}).error_bound() == 0x1p-53);
    CHECK(sum(std::vector<double>{0x1p-1074}).error_bound() == 0x1p-1074);
    CHECK(max(std::vector<double>{2, infinity}).error_bound() == 0);
    CHECK(sum(std::vector<int>{2, 3}).error_bound() == 0);
    CHECK(any(std::vector<int>{2, 3}).error_bound() == 0);
    CHECK(mean(std::vector<int>{2, 3}).error_bound() == 0x1p-52);
  }

  TEST_CASE("why nothing is proven") {
    const std::vector<double> x{1, 2, 3}, huge(3, 1e308);
    const auto plain = sum(x, {.method = method::fast});
    CHECK(plain.error_bound() == infinity);
    CHECK(plain.why_unbounded().find("option `bound`") != std::string::npos);
    CHECK(sum(x, {.method = method::fast, .bound = true}).error_bound() < 1e-14);
    CHECK(sum(huge).why_unbounded() == "the value is not finite");
    CHECK(product(x).why_unbounded().find("over- or underflowed") != std::string::npos);
    CHECK(product(x, {.bound = true}).error_bound() < 1e-14);
    CHECK(product(std::vector<double>{1e-200, 1e-200, 1e300}, {.bound = true}).error_bound() == infinity);
    // The squares could overflow on the way, as far as the proof goes.
    CHECK(variance(std::vector<double>{2e153, -2e153}, {.method = method::fast, .bound = true}).error_bound() ==
          infinity);
    CHECK(sum(std::vector<double>{1e308, 1e308, -1e308}, {.method = method::compensated, .bound = true})
              .error_bound() == infinity);
  }

  TEST_CASE("only reductions of one array compute bounds") {
    const std::vector<double> x{1, 2};
    std::vector<double> out(1);
    const options wanted{.bound = true};
    CHECK_THROWS_AS(sum(rows(x, {1, 2}, 1), out, wanted), unsupported);
    CHECK_THROWS_AS(plan(operation::sum, element_type::f64, wanted), unsupported);
    CHECK_THROWS_AS(incremental(operation::sum, element_type::f64, wanted), unsupported);
    CHECK_THROWS_AS((void)describe(x, wanted), unsupported);
  }
}

}  // namespace fanin::test
