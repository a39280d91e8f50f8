// SPDX-License-Identifier: Apache-2.0
// Whether a value is right. An exact value has to have the bits that MPFR gives. Other values have to keep the
// reported bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "oracle/random_input.hpp"
#include "tests/fuzz/mpfr_truth.hpp"
#include "tests/support/call.hpp"
#include "tests/support/compared.hpp"

namespace fanin::fuzz {

/// The elements as numbers of another type.
template <class R, class T>
std::vector<R> converted(std::span<const T> x) {
  return {x.begin(), x.end()};
}

/// The real and the imaginary part of each number, one behind the other, or of the number times -i.
template <class P>
std::vector<P> parts_of(std::span<const std::complex<P>> x, bool turned = false, bool conjugate = false) {
  std::vector<P> parts;
  for (const std::complex<P>& one : x) {
    const P im = conjugate ? -one.imag() : one.imag();
    parts.push_back(turned ? im : one.real());
    parts.push_back(turned ? -one.real() : im);
  }
  return parts;
}

/// Whether the number is this part of the exact sum, mean, norm or product of complex numbers that are finite: each
/// is an operation on real numbers. The sign of a zero is not looked at.
template <class P, class R>
bool is_right_part(operation what, const repeated<std::complex<P>>& x, R got, bool imaginary) {
  if (what == operation::dot || what == operation::vdot) {
    const auto first = parts_of(x.pattern, false, what == operation::dot);
    const auto second = parts_of(x.behind, imaginary);
    return got == right_float<R, P>(operation::dot, {first, second, 2 * x.count});
  }
  if (what == operation::norm2) return got == right_float<R, P>(what, {parts_of(x.pattern), {}, 2 * x.count});
  std::vector<P> parts;
  for (const std::complex<P>& one : x.pattern) parts.push_back(imaginary ? one.imag() : one.real());
  return got == right_float<R, P>(what, {parts, {}, x.count});
}

/// Whether the exact result of complex numbers is right. Results of other methods are not judged.
template <class P>
bool is_right_complex(operation what, const repeated<std::complex<P>>& x, method how, const scalar& value) {
  const auto finite = [](std::complex<P> one) { return std::isfinite(one.real()) && std::isfinite(one.imag()); };
  if (how != method::exact || !std::ranges::all_of(x.pattern, finite) || !std::ranges::all_of(x.behind, finite)) {
    return true;
  }
  return fanin::visit(
      [&]<class R>(const R& got) {
        if constexpr (complex_number<R>) {
          return is_right_part(what, x, got.real(), false) && is_right_part(what, x, got.imag(), true);
        } else if constexpr (std::is_floating_point_v<R>) {
          return is_right_part(what, x, got, false);
        } else {
          return false;
        }
      },
      value);
}

/// Whether the value is correctly rounded if `how` is exact, and otherwise keeps the bound. There are enough
/// elements for a result. A sum that was rounded to a narrow float is not judged.
template <class T>
bool is_right(operation what, const repeated<T>& x, method how, const error_bound& bound, const scalar& value) {
  if constexpr (complex_number<T>) {
    return is_right_complex(what, x, how, value);
  } else {
    if (what == operation::count_nonzero) {
      std::uint64_t nonzeros = 0;
      for (std::size_t i = 0; i < x.pattern.size(); ++i) nonzeros += x.pattern[i] == T{0} ? 0 : x.times(i);
      return test::same(value, nonzeros);
    }
    if (test::only_compares(what)) return test::same(value, test::comparison<T>(x.pattern).result(what));
    if constexpr (narrow_float<T>) {
      const auto floats = converted<float>(x.pattern), behind = converted<float>(x.behind);
      return is_right<float>(what, {floats, behind, x.count}, how, bound, value);
    } else if constexpr (std::is_integral_v<T>) {
      const auto right = right_integer(what, x);
      return right && test::same(value, *right);
    } else {
      if (what == operation::log_sum_exp) return keeps_log_sum(x, fanin::get<T>(value), bound);
      if (what == operation::product) return keeps_product(x, fanin::get<T>(value), bound);
      if (how != method::exact) return keeps_bound(what, x, fanin::get<T>(value), bound);
      return fanin::visit(
          [&]<class R>(R got) {
            if constexpr (std::is_floating_point_v<R>) return test::same(got, right_float<R>(what, x));
            return narrow_float<R>;
          },
          value);
    }
  }
}

/// Whether the result of these elements is the error `overflow`.
template <class T>
bool overflows(operation what, const repeated<T>& x) {
  if constexpr (std::is_integral_v<T>) return !right_integer(what, x);
  return false;
}

}  // namespace fanin::fuzz
