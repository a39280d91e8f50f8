// SPDX-License-Identifier: Apache-2.0
// The exponential function and the logarithm in the ranges that log_sum_exp needs. The functions of a C library
// have other bits on other machines. The functions here consist of additions, multiplications and at most one
// division. So they have the same bits on every processor and device, unless the compiler contracts
// multiplications and additions. The library is compiled without contraction. docs/numerics.md proves the errors.
// Contraction does not make the errors larger.
#pragma once

#include <cstdint>

#include <fanin/compiler.hpp>

namespace fanin::accumulator {

/// ln 2 as the sum of two doubles. `ln2_high` has the upper 42 bits, so its product with an integer below 2^11 is
/// exact.
inline constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

inline constexpr double inverse_ln2 = 0x1.71547652b82fep0;

/// A number that is added to this constant is rounded to an integer, which is in the lowest bits of the sum.
inline constexpr double to_integer = 0x1.8p52;

/// exp_of_negative() gives 0 for any number below this one.
inline constexpr double least_exponent = -708;

/// 1/K!, correctly rounded, for K up to 18.
template <int K>
inline constexpr double inverse_factorial = [] {
  double factorial = 1;
  for (int i = 2; i <= K; ++i) factorial *= i;
  return 1 / factorial;
}();
inline constexpr int last_exponential_term = 13;

/// 1/K! + r/(K + 1)! + ... + r^(13 - K)/13!.
template <int K>
FANIN_HOST_DEVICE inline double exponential_series_from(double r) {
  if constexpr (K == last_exponential_term) {
    return inverse_factorial<K>;
  } else {
    return exponential_series_from<K + 1>(r) * r + inverse_factorial<K>;
  }
}

/// e^t for |t| <= 708, with a relative error of at most 2 units roundoff (2^-52). For t = 0 it gives exactly 1. NaN
/// gives NaN.
/// If t = n ln 2 + r, where n is an integer, then e^t = 2^n e^r. e^r is the sum of the terms of the exponential
/// series up to r^13 / 13!.
FANIN_HOST_DEVICE inline double exponential_of(double t) {
  const double shifted = t * inverse_ln2 + to_integer;
  const double n = shifted - to_integer;
  const double r = (t - n * ln2_high) - n * ln2_low;
  const double exp_of_rest = 1 + (r + r * r * exponential_series_from<2>(r));
  const double power = __builtin_bit_cast(double, (__builtin_bit_cast(std::uint64_t, shifted) + 1023) << 52);
  return exp_of_rest * power;
}

/// exponential_of(t) for t <= 0. For t < -708 it gives 0. The function is not inlined, because a kernel merges states
/// in dozens of places.
FANIN_HOST_DEVICE FANIN_NOINLINE inline double exp_of_negative(double t) {
  const double power = exponential_of(t < least_exponent ? least_exponent : t);
  return t < least_exponent ? 0 : power;
}

/// Elements are near if their magnitudes are at most this one.
inline constexpr float most_near = 600;

/// ln 2 as the sum of two floats. `near_ln2_high` has the upper 12 bits, so its product with an integer below 2^10 is
/// exact.
inline constexpr float near_ln2_high = 0x1.62ep-1f, near_ln2_low = 0x1.0bfbe8p-15f;
inline constexpr float near_inverse_ln2 = 0x1.715476p0f, near_to_integer = 0x1.8p23f;

/// The coefficients of r^6, r^5, ..., r^2 in a polynomial that begins with 1 + r. They minimise its relative error as
/// e^r for |r| <= 0.3467.
inline constexpr float near_coefficients[] = {0x1.6a2414p-10f, 0x1.1239f4p-7f, 0x1.5558eep-5f, 0x1.555492p-3f,
                                              0x1.fffffcp-2f};

/// e^x for |x| <= most_near by float arithmetic, with a relative error of at most 1.6 * 2^-24. e^0 is exactly 1.
/// If x = n ln 2 + r, where n is an integer, then e^x = 2^n e^r.
inline double exponential_of_near(float x) {
  const float shifted = x * near_inverse_ln2 + near_to_integer;
  const float n = shifted - near_to_integer;
  const float r = (x - n * near_ln2_high) - n * near_ln2_low;
  float series = near_coefficients[0];
  for (int i = 1; i < 5; ++i) series = series * r + near_coefficients[i];
  const double exp_of_rest = 1 + (r + r * r * series);
  // n, which is in the lowest bits of `shifted`, is added to the exponent.
  const auto exponent = std::uint64_t{__builtin_bit_cast(std::uint32_t, shifted)} << 52;
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, exp_of_rest) + exponent);
}
/// e^x for a double of at most most_near in magnitude, with the error of exponential_of().
inline double exponential_of_near(double x) { return exponential_of(x); }

/// The root of 2, rounded to a double.
inline constexpr double root_of_2 = 0x1.6a09e667f3bcdp0;
/// The exponent of the last term of the series of artanh.
inline constexpr int last_logarithm_term = 21;

/// log s for 2^-1000 < s < 2^1000, with a relative error of at most 6 units roundoff (6 * 2^-53). 1 gives exactly 0.
/// If s = 2^k z, where z is between sqrt(1/2) and sqrt(2), then log s = k ln 2 + 2 artanh w, where w = (z - 1) /
/// (z + 1). The series of artanh has terms up to w^21 / 21.
FANIN_HOST_DEVICE inline double log_of_sum(double s) {
  constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1, one = std::uint64_t{1023} << 52;
  const auto bits = __builtin_bit_cast(std::uint64_t, s);
  double k = static_cast<double>(bits >> 52) - 1023;
  double z = __builtin_bit_cast(double, (bits & mantissa) | one);
  if (z > root_of_2) {
    z /= 2;
    k += 1;
  }
  const double f = z - 1, w = f / (2 + f), square = w * w;
  double series = 1. / last_logarithm_term;
  for (int i = last_logarithm_term - 2; i >= 3; i -= 2) series = series * square + 1. / i;
  return k * ln2_high + (k * ln2_low + (2 * w + 2 * w * (square * series)));
}

}  // namespace fanin::accumulator
