// SPDX-License-Identifier: Apache-2.0
// Sums of numbers as floats or doubles, with the rounding errors of the additions in one number more.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::cuda {

/// The exact sum is sum + error, unless the sum is not finite, or the error is NaN: then the two do not hold the sum.
template <class F>
struct two_part_sum {
  F sum, error = 0;

  __device__ bool is_exact() const { return sum - sum == 0 && error == error; }

  /// The sum of two numbers and its rounding error, which is exact if the sum is finite [Knuth 1998, 4.2.2].
  __device__ static F add(F& sum, F x) {
    const F before = sum, after = before + x, part = after - before;
    sum = after;
    return (before - (after - part)) + (x - part);
  }
  __device__ void add(F x) {
    if (add(error, add(sum, x)) != 0) error = std::numeric_limits<F>::quiet_NaN();
  }
};
using double_sum = two_part_sum<double>;

/// A number rounded to odd, from the nearest one: the last bit is set if the number is not exact. Rounding that to a
/// type with at least two digits fewer gives what rounding the number itself gives [Boldo, Melquiond 2008].
template <class F>
__device__ F to_odd(F nearest, bool exact, bool away_from_0) {
  if (exact) return nearest;
  return detail::from_bits<F>((detail::to_bits(nearest) - (away_from_0 ? 1 : 0)) | 1);
}

/// sum + error of a finite sum, rounded once to T, which is F or has at least two digits fewer.
template <class T, class F>
__device__ T rounded_to(const two_part_sum<F>& s) {
  if constexpr (std::is_same_v<T, F>) {
    return s.error == 0 ? s.sum : s.sum + s.error;  // The sum may be -0.
  } else {
    F sum = s.sum;
    if (s.error != 0) {
      const F below = two_part_sum<F>::add(sum, s.error);
      sum = to_odd(sum, below == 0, (below < 0) != (sum < 0));
    }
    const auto nearest = static_cast<float>(sum);
    if constexpr (sizeof(T) == 4) return nearest;
    if constexpr (sizeof(T) < 4) return T(to_odd(nearest, nearest == sum, std::abs(F{nearest}) > std::abs(sum)));
  }
}

}  // namespace fanin::cuda
