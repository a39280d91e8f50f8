// SPDX-License-Identifier: Apache-2.0
// Sums of numbers in double, with the rounding errors of the additions in another double.
#pragma once

#include <cmath>

#include <fanin/narrow_float.hpp>

namespace fanin::cuda {

/// The exact sum is sum + error, unless `rounded`.
struct double_sum {
  double sum, error = 0;
  bool rounded = false;

  __device__ bool is_exact() const { return sum - sum == 0 && !rounded; }

  /// The sum of two doubles and its rounding error, which is exact if the sum is finite [Knuth 1998, 4.2.2].
  __device__ static double add(double& sum, double x) {
    const double before = sum, after = before + x, part = after - before;
    sum = after;
    return (before - (after - part)) + (x - part);
  }
  __device__ void add(double x) {
    const double lost = add(error, add(sum, x));
    rounded = rounded || lost != 0;  // as NaN is, which infinities leave
  }
};

/// A number rounded to odd, from the nearest one: the last bit is set if the number is not exact. Rounding that to a
/// type with at least two digits fewer gives what rounding the number itself gives [Boldo, Melquiond 2008].
template <class F>
__device__ F to_odd(F nearest, bool exact, bool away_from_0) {
  if (exact) return nearest;
  return detail::from_bits<F>((detail::to_bits(nearest) - (away_from_0 ? 1 : 0)) | 1);
}

/// sum + error of a finite sum, rounded once to T.
template <class T>
__device__ T rounded_to(const double_sum& s) {
  if constexpr (sizeof(T) == 8) {
    return s.error == 0 ? s.sum : s.sum + s.error;  // The sum may be -0.
  } else {
    double sum = s.sum;
    if (s.error != 0) {
      const double below = double_sum::add(sum, s.error);
      sum = to_odd(sum, below == 0, (below < 0) != (sum < 0));
    }
    const auto nearest = static_cast<float>(sum);
    if constexpr (sizeof(T) == 4) return nearest;
    if constexpr (sizeof(T) < 4) return T(to_odd(nearest, nearest == sum, std::abs(double{nearest}) > std::abs(sum)));
  }
}

}  // namespace fanin::cuda
