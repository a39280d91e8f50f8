// Whether a value keeps the error bound that came with it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::oracle {

enum class promise : std::uint8_t {
  none,  ///< nothing is promised: an infinite coefficient, or values so large that a partial sum may overflow
  kept,
  broken,
};

/// What a bound is about, exact and rounded once. A mean is held to its bound as a sum, with everything multiplied by
/// the number of elements: that is `times`.
struct exact_facts {
  double result;         ///< not finite if an element is not
  double of_magnitudes;  ///< M, over the finite elements
  double times = 1;
};

/// Whether the bound says anything about elements of that type.
inline bool is_promised(const error_bound& bound, element_type type, const exact_facts& exact) {
  if (std::isinf(bound.of_result) || std::isinf(bound.of_magnitudes)) return false;
  const double largest =
      type == element_type::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  return !is_floating(type) || exact.of_magnitudes <= largest / 2;
}

/// The bound's right side, rounded upwards.
inline double limit(const error_bound& bound, const exact_facts& exact) {
  const auto up = [](double x) { return std::nextafter(x, std::numeric_limits<double>::infinity()); };
  const auto product = [&](double a, double b) { return a == 0 || b == 0 ? 0 : up(a * up(b)); };
  const auto sum = [&](double a, double b) { return a == 0 || b == 0 ? a + b : up(a + b); };
  return sum(
      sum(product(bound.of_result, std::fabs(exact.result)), product(bound.of_magnitudes, exact.of_magnitudes)),
      product(bound.absolute, exact.times));
}

/// `distance()` is |value - exact result|, rounded once. Where elements are infinite or NaN, value and result agree.
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
