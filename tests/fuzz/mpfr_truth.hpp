// SPDX-License-Identifier: Apache-2.0
// The right result of every operation of the catalogue, by MPFR. A sum here has 4500 bits. So sums of floats, of
// their squares and of their products are not rounded, and the numerator of a variance is not rounded, either.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"
#include "tests/support/log_sum_truth.hpp"

namespace fanin::fuzz {

/// A number of 4500 bits. Quotients and roots are not exact; they are kept so that one rounding more is right.
class wide {
 public:
  static constexpr mpfr_prec_t bits = 4500;

  wide() {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  wide(const wide& other) : wide() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  ~wide() { mpfr_clear(value_); }
  wide& operator=(const wide&) = delete;
  mpfr_ptr get() { return value_; }

  template <class T>
  void set(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      mpfr_set_d(value_, static_cast<double>(x), MPFR_RNDN);
    } else if constexpr (std::is_signed_v<T>) {
      mpfr_set_si(value_, x, MPFR_RNDN);
    } else {
      mpfr_set_ui(value_, x, MPFR_RNDN);
    }
  }
  /// Adds a * b * times.
  void add_product(wide& a, wide& b, std::uint64_t times) {
    wide term;
    mpfr_mul(term.value_, a.value_, b.value_, MPFR_RNDN);
    mpfr_mul_ui(term.value_, term.value_, times, MPFR_RNDN);
    mpfr_add(value_, value_, term.value_, MPFR_RNDN);
  }
  void divide(std::uint64_t by) { sticky(mpfr_div_ui(value_, value_, by, MPFR_RNDZ)); }
  void take_root() { sticky(mpfr_sqrt(value_, value_, MPFR_RNDZ)); }

  /// The number rounded once, to nearest, ties to even.
  template <class R>
  R rounded() {
    if constexpr (std::is_same_v<R, float>) {
      return mpfr_get_flt(value_, MPFR_RNDN);
    } else {
      return mpfr_get_d(value_, MPFR_RNDN);
    }
  }
  /// The integer, if R has it.
  template <class R>
  std::optional<R> integer() {
    if constexpr (std::is_signed_v<R>) {
      if (mpfr_fits_slong_p(value_, MPFR_RNDN) == 0) return std::nullopt;
      return static_cast<R>(mpfr_get_si(value_, MPFR_RNDN));
    } else {
      if (mpfr_fits_ulong_p(value_, MPFR_RNDN) == 0) return std::nullopt;
      return static_cast<R>(mpfr_get_ui(value_, MPFR_RNDN));
    }
  }

 private:
  /// Half a unit more of the last place, where digits were cut off: then the number is no tie of fewer bits.
  void sticky(int ternary) {
    if (ternary == 0) return;
    mpfr_prec_round(value_, bits + 2, MPFR_RNDN);
    mpfr_sgn(value_) > 0 ? mpfr_nextabove(value_) : mpfr_nextbelow(value_);
  }

  mpfr_t value_;
};

/// The elements of an input, which repeats a pattern: x[i] is pattern[i % size], and y[i] of a dot product is
/// behind[i % size].
template <class T>
struct repeated {
  std::span<const T> pattern, behind;
  std::size_t count;

  /// How often the pattern's i-th element is there.
  std::size_t times(std::size_t i) const { return count / pattern.size() + (i < count % pattern.size() ? 1 : 0); }
};

/// The terms of a sum, one for each element, and the special values among the terms.
template <class T>
struct terms {
  wide sum, magnitudes;
  bool nan = false, plus_infinity = false, minus_infinity = false, only_minus_zeros;

  terms(operation what, const repeated<T>& x) : only_minus_zeros(x.count > 0) {
    wide a, b, one;
    one.set(1);
    for (std::size_t i = 0; i < x.pattern.size() && x.times(i) > 0; ++i) {
      const bool squared = what == operation::sum_of_squares || what == operation::norm2;
      const T first = what == operation::sum_of_magnitudes && std::is_floating_point_v<T>
                          ? static_cast<T>(std::fabs(static_cast<double>(x.pattern[i])))
                          : x.pattern[i];
      const T second = squared ? first : row_of(what).inputs == 2 ? x.behind[i] : T{1};
      if constexpr (std::is_floating_point_v<T>) {
        const T term = first * second;  // Only its sign counts, and whether it is a number: it may have been rounded.
        const bool finite = std::isfinite(first) && std::isfinite(second);
        nan = nan || std::isnan(term);
        plus_infinity = plus_infinity || (!finite && term > 0);
        minus_infinity = minus_infinity || (!finite && term < 0);
        only_minus_zeros = only_minus_zeros && (first == 0 || second == 0) && std::signbit(term);
        if (!finite) continue;
      }
      a.set(first);
      b.set(second);
      if (what == operation::sum_of_magnitudes) mpfr_abs(a.get(), a.get(), MPFR_RNDN);
      sum.add_product(a, b, x.times(i));
      mpfr_abs(a.get(), a.get(), MPFR_RNDN);
      mpfr_abs(b.get(), b.get(), MPFR_RNDN);
      magnitudes.add_product(a, b, x.times(i));
    }
  }

  /// The total where it is no finite sum, or a zero, whose sign depends on the terms.
  template <class R>
  std::optional<R> special() {
    if (nan || (plus_infinity && minus_infinity)) return std::numeric_limits<R>::quiet_NaN();
    if (plus_infinity) return std::numeric_limits<R>::infinity();
    if (minus_infinity) return -std::numeric_limits<R>::infinity();
    if (mpfr_zero_p(sum.get()) != 0) return only_minus_zeros ? R(-0.0) : R(0);
    return std::nullopt;
  }
};

inline bool is_dispersion(operation what) {
  return what == operation::variance || least_count(what) > 1 || what == operation::standard_deviation;
}

/// The correctly rounded sum, mean, sum of squares or magnitudes, dot product, norm, variance or standard deviation
/// of floats.
template <class R, class T>
R right_float(operation what, const repeated<T>& x) {
  if (is_dispersion(what)) {
    terms<T> plain(operation::sum, x), squares(operation::sum_of_squares, x);
    if (plain.nan || plain.plus_infinity || plain.minus_infinity) return std::numeric_limits<R>::quiet_NaN();
    mpfr_mul_ui(squares.sum.get(), squares.sum.get(), x.count, MPFR_RNDN);
    mpfr_sqr(plain.sum.get(), plain.sum.get(), MPFR_RNDN);
    mpfr_sub(squares.sum.get(), squares.sum.get(), plain.sum.get(), MPFR_RNDN);
    if (mpfr_zero_p(squares.sum.get()) != 0) return R{0};
    const bool sample = least_count(what) > 1,
               root = what == operation::standard_deviation || what == operation::sample_standard_deviation;
    squares.sum.divide(x.count * (x.count - (sample ? 1 : 0)));
    if (root) squares.sum.take_root();
    return squares.sum.template rounded<R>();
  }
  terms<T> all(what, x);
  if (const auto value = all.template special<R>()) return *value;
  if (what == operation::mean) all.sum.divide(x.count);
  if (what == operation::norm2) all.sum.take_root();
  return all.sum.template rounded<R>();
}

/// Whether a variance or standard deviation is within its bound. Its exact value is rounded to double here.
template <class T>
bool keeps_dispersion_bound(operation what, const repeated<T>& x, T value, error_bound bound) {
  const bool root = what == operation::standard_deviation || what == operation::sample_standard_deviation;
  const std::uint64_t divisor = x.count - (least_count(what) > 1 ? 1 : 0);
  terms<T> squares(operation::sum_of_squares, x);
  const oracle::exact_facts exact = oracle::dispersion_facts(
      right_float<double>(what, x), squares.sum.template rounded<double>(), static_cast<double>(divisor), root);
  bound.of_result += 0x1p-52;
  const auto got = static_cast<double>(value);
  return oracle::judge(bound, type_of<T>, got, exact, [&] { return std::fabs(got - exact.result); }) !=
         oracle::promise::broken;
}

/// Whether the value of a method that rounds keeps the bound that was reported with it.
template <class T>
bool keeps_bound(operation what, const repeated<T>& x, T value, const error_bound& bound) {
  if (is_dispersion(what)) return keeps_dispersion_bound(what, x, value, bound);
  terms<T> all(what, x);
  if (what == operation::norm2) all.sum.take_root();
  const std::uint64_t times = what == operation::mean ? x.count : 1;
  const auto special = all.template special<double>();
  const oracle::exact_facts exact{special.value_or(all.sum.template rounded<double>()),
                                  all.magnitudes.template rounded<double>(), static_cast<double>(times)};
  return oracle::judge(bound, type_of<T>, static_cast<double>(value), exact, [&] {
           wide got, scale;
           got.set(-value);
           scale.set(1);
           all.sum.add_product(got, scale, times);
           return std::fabs(all.sum.template rounded<double>());
         }) != oracle::promise::broken;
}

/// Whether the value is a product of these floats within the bound. Nothing is promised where a partial product, in
/// any order, may over- or underflow.
template <class T>
bool keeps_product(const repeated<T>& x, T value, const error_bound& bound) {
  bool nan = false, infinite = false, zero = false, negative = false;
  double binades = 0;
  wide product, factor;
  product.set(1);
  for (std::size_t i = 0; i < x.pattern.size() && x.times(i) > 0; ++i) {
    const T one = x.pattern[i];
    nan = nan || std::isnan(one);
    infinite = infinite || std::isinf(one);
    zero = zero || one == 0;
    negative = negative != (std::signbit(one) && x.times(i) % 2 == 1);
    if (!std::isfinite(one) || one == 0) continue;
    binades += static_cast<double>(x.times(i)) * (std::abs(std::ilogb(one)) + 1);
    factor.set(one);
    mpfr_pow_ui(factor.get(), factor.get(), x.times(i), MPFR_RNDN);
    mpfr_mul(product.get(), product.get(), factor.get(), MPFR_RNDN);
  }
  if (nan) return std::isnan(value);
  if (binades > -std::numeric_limits<T>::min_exponent || std::isinf(bound.of_result)) return true;
  if (infinite && zero) return std::isnan(value);
  if (infinite || zero) return std::signbit(value) == negative && (infinite ? std::isinf(value) : value == 0);
  const double exact = std::fabs(product.template rounded<double>());
  wide minus, one;
  minus.set(-value);
  one.set(1);
  product.add_product(minus, one, 1);
  return std::isfinite(value) &&
         std::fabs(product.template rounded<double>()) <= bound.of_result * exact * (1 + 0x1p-40);
}

/// Whether the value is log(sum of e^x) of these floats within the bound.
template <class T>
bool keeps_log_sum(const repeated<T>& x, T value, const error_bound& bound) {
  const auto used = x.pattern.first(std::min(x.pattern.size(), x.count));
  if (used.empty()) return value == -std::numeric_limits<T>::infinity();
  if (std::ranges::any_of(used, [](T v) { return std::isnan(v); })) return std::isnan(value);
  const T largest = *std::ranges::max_element(used);
  if (std::isinf(largest)) return value == largest;
  const auto exact = test::log_sum_exp_of(used, [&](std::size_t i) { return x.times(i); });
  const double error = (test::long_number(value) - exact).magnitude();
  return error <= (bound.of_result * exact.magnitude() + bound.absolute) * (1 + 0x1p-40);
}

/// The result of integers; nothing where it is the error `overflow`.
template <class T>
std::optional<scalar> right_integer(operation what, const repeated<T>& x) {
  using R = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  if (what == operation::product) {
    wide product, factor;
    product.set(1);
    for (std::size_t i = 0; i < x.pattern.size() && x.times(i) > 0; ++i) {
      factor.set(x.pattern[i]);
      mpfr_pow_ui(factor.get(), factor.get(), x.times(i), MPFR_RNDN);
      mpfr_mul(product.get(), product.get(), factor.get(), MPFR_RNDN);
    }
    const auto value = product.template integer<R>();
    return value ? std::optional<scalar>(*value) : std::nullopt;
  }
  if (is_dispersion(what)) return scalar(right_float<double>(what, x));
  terms<T> all(what, x);
  if (what == operation::mean || what == operation::norm2 || row_of(what).inputs == 2) {
    if (what == operation::mean) all.sum.divide(x.count);
    if (what == operation::norm2) all.sum.take_root();
    return scalar(mpfr_zero_p(all.sum.get()) != 0 ? 0.0 : all.sum.template rounded<double>());
  }
  const auto value = all.sum.template integer<R>();
  return value ? std::optional<scalar>(*value) : std::nullopt;
}

}  // namespace fanin::fuzz
