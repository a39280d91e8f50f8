// SPDX-License-Identifier: Apache-2.0
// Checks whether a value keeps the error bound that the library reported with it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::oracle {

enum class promise : std::uint8_t {
  none,  ///< a coefficient of the bound is infinite, or a partial sum may overflow, so that nothing is promised
  kept,
  broken,
};

/// The exact quantities of an error bound, each rounded once to double. The bound of a mean is checked on the sum:
/// both sides are multiplied by the number of elements, which is `times`.
struct exact_facts {
  double result;         ///< the exact result; not finite if an element is not finite
  double of_magnitudes;  ///< M: the exact result for the magnitudes of the finite elements
  double times = 1;
};

/// The facts of a variance, or of its root, from the sum of the squares of finite elements and the variance's
/// divisor. The premise of its bound is that no sum of squares of some elements, or of some differences, can
/// overflow.
inline exact_facts dispersion_facts(double result, double squares, double divisor, bool root) {
  if (std::isnan(result)) return {result, 0};
  if (!(squares <= std::numeric_limits<double>::max() / 128)) {
    return {result, std::numeric_limits<double>::infinity()};
  }
  if (squares == 0) return {result, 0};
  return {result, squares / divisor / (root ? result : 1)};
}

/// Whether the bound promises anything: its coefficients are finite, and no partial sum in `type` can overflow.
inline bool is_promised(const error_bound& bound, element_type type, const exact_facts& exact) {
  if (std::isinf(bound.of_result) || std::isinf(bound.of_magnitudes)) return false;
  const double largest =
      with_element(type, []<class T>() { return static_cast<double>(std::numeric_limits<part_of<T>>::max()); });
  return is_integer(type) || exact.of_magnitudes <= largest / 2;
}

/// The bound's right side, of_result * |result| + of_magnitudes * M + absolute * times, rounded upwards.
inline double limit(const error_bound& bound, const exact_facts& exact) {
  const auto up = [](double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); };
  const auto product = [&](double a, double b) { return a == 0 || b == 0 ? 0 : up(a * up(b)); };
  const auto sum = [&](double a, double b) { return a == 0 || b == 0 ? a + b : up(a + b); };
  return sum(
      sum(product(bound.of_result, std::fabs(exact.result)), product(bound.of_magnitudes, exact.of_magnitudes)),
      product(bound.absolute, exact.times));
}

/// Checks `value` against the bound. `distance()` returns |value - exact result|, rounded once. If the exact result
/// is infinite or NaN, `value` has to be the same.
template <class Distance>
promise judge(const error_bound& bound, element_type type, double value, const exact_facts& exact,
              Distance distance) {
  if (!is_promised(bound, type, exact)) return promise::none;
  const auto verdict = [](bool kept) { return kept ? promise::kept : promise::broken; };
  if (std::isnan(exact.result)) return verdict(std::isnan(value));
  if (std::isinf(exact.result)) return verdict(value == exact.result);
  return verdict(std::isfinite(value) && distance() <= limit(bound, exact));
}

}  // namespace fanin::oracle
