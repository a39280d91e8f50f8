// SPDX-License-Identifier: Apache-2.0
// The proven error bound of a result, and the roundings from which it follows; accumulator/bounds.hpp has the
// formulas.
#pragma once

namespace fanin {

/// A proven bound: |value - exact| <= of_result * |exact| + of_magnitudes * M + absolute.
/// - M is the sum of |x_i|. It is the sum of |x_i| / n for mean, of |x_i y_i| for dot, and of x_i^2 / n for variance;
///   dispersion_bound() has the others.
/// - The bound holds if the sum of the magnitudes (before a mean's division) is at most half the largest finite
///   value, so that no intermediate value overflows. For log_sum_exp it always holds.
/// - Infinite coefficients mean that nothing is promised, because there are too many elements for the precision.
/// report::error_bound_of() makes one number of a bound.
struct error_bound {
  double of_result = 0;
  double of_magnitudes = 0;
  double absolute = 0;
  bool in_range_only = false;  ///< for a product: the bound holds if no intermediate product over- or underflows
};

/// The longest chain of roundings between an element and the result. The chain has additions of elements to one
/// state, and then merges of states. An addition to the identity does not round, and need not be counted.
struct rounding_chain {
  double adds = 0;
  double merges = 0;
  constexpr double length() const noexcept { return adds + merges; }
};

}  // namespace fanin
