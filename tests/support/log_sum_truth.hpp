// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms and log(sum of e^x) by MPFR, and the errors of computed ones.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <span>

#include <fanin/narrow_float.hpp>

namespace fanin::test {

/// A number with a mantissa of 160 bits, which every operation rounds to nearest.
class long_number {
 public:
  long_number(double value = 0) {
    mpfr_init2(value_, 160);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  long_number(const long_number& other) : long_number() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  long_number& operator=(const long_number& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~long_number() { mpfr_clear(value_); }

  friend long_number operator+(long_number a, const long_number& b) {
    mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend long_number operator-(long_number a, const long_number& b) {
    mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend long_number operator*(long_number a, const long_number& b) {
    mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend long_number operator/(long_number a, const long_number& b) {
    mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend long_number exp(long_number a) {
    mpfr_exp(a.value_, a.value_, MPFR_RNDN);
    return a;
  }
  friend long_number log(long_number a) {
    mpfr_log(a.value_, a.value_, MPFR_RNDN);
    return a;
  }
  /// The magnitude, rounded upwards.
  double magnitude() const { return std::fabs(mpfr_get_d(value_, MPFR_RNDA)); }

 private:
  mpfr_t value_;
};

/// |value - exact| / |exact|.
inline double relative_error(double value, const long_number& exact) {
  return ((long_number(value) - exact) / exact).magnitude();
}

/// log(sum of times(i) e^x[i]). At least one element is finite, and none is NaN or +infinity.
template <class T, class Times>
long_number log_sum_exp_of(std::span<const T> x, Times times) {
  const double largest = *std::ranges::max_element(x);
  long_number sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum = sum + long_number(static_cast<double>(times(i))) * exp(long_number(x[i]) - long_number(largest));
  }
  return long_number(largest) + log(sum);
}

}  // namespace fanin::test
