// SPDX-License-Identifier: Apache-2.0
// The state in which kernels fold log_sum_exp of floats of up to 32 bits: exponentials by float arithmetic, added as
// doubles. docs/numerics.md proves the error.
//
// Exponentials of elements between -600 and 600 are doubles, so their sum needs no reference. An element costs one
// exponential, and a merge is an addition. Sums with other elements have the largest element as a reference, as in
// accumulator/log_sum.hpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <nv/target>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/accumulator/log_sum.hpp>

namespace fanin::cuda {

/// The larger number; NaN if one of both is NaN.
FANIN_HOST_DEVICE inline float larger_or_nan(float a, float b) {
  NV_IF_TARGET(NV_PROVIDES_SM_80, (float larger; asm("max.NaN.f32 %0, %1, %2;"
                                                     : "=f"(larger)
                                                     : "f"(a), "f"(b));
                                   return larger;))
  return a > b || std::isnan(a) ? a : b;
}

/// e^x for |x| <= 600, with a relative error of at most (1.1 + 0.0462 |x|) 2^-24. e^0 is exactly 1.
/// Let x = n l + r, where n is an integer and l the float next to ln 2. Then e^x is nearly 2^n e^r. e^r is a
/// polynomial of degree 6. Its first two coefficients are 1, and the others minimise the error for |r| <= 0.3467.
FANIN_HOST_DEVICE inline double exponential_of_float(float x) {
  constexpr float to_integer = 0x1.8p23f, inverse_ln2 = 0x1.715476p0f, ln2 = 0x1.62e43p-1f;
  const float shifted = std::fma(x, inverse_ln2, to_integer);
  const float r = std::fma(to_integer - shifted, ln2, x);
  float series = 0x1.6a2414p-10f;
  for (const float coefficient : {0x1.1239f4p-7f, 0x1.5558eep-5f, 0x1.555492p-3f, 0x1.fffffcp-2f, 1.f, 1.f}) {
    series = std::fma(series, r, coefficient);
  }
  // n, which is in the lowest bits of `shifted`, is added to the exponent, in the upper word.
  const auto bits = detail::to_bits(static_cast<double>(series));
  const std::uint32_t upper = static_cast<std::uint32_t>(bits >> 32) + (detail::to_bits(shifted) << 20);
  return detail::from_bits<double>(std::uint64_t{upper} << 32 | static_cast<std::uint32_t>(bits));
}

struct float_log_sum {
  using element = float;
  /// The sum of e^(x - reference) over the elements x. The reference is 0 where the largest element is between -600
  /// and 600, and otherwise the largest element. But a single element is its own reference, so that it is its own
  /// result. The sum is 0 only if all elements are -infinity.
  struct state {
    float reference;
    double sum;
    FANIN_HOST_DEVICE explicit operator accumulator::scaled_sum() const {
      return {sum == 0 ? -infinity : reference, sum};
    }
    bool operator==(const state&) const = default;
  };
  static constexpr bool order_free = false;
  static constexpr bool has_own_bound = true;

  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, float x) {
    if (s.reference == 0 && s.sum != 0 && is_near(x)) {
      s.sum += exponential_of_float(x);
    } else if (x != -infinity) {
      s = merged(s, {x, 1});
    }
  }
  /// Adds several elements, with the bits of additions one after another.
  template <int N>
  FANIN_HOST_DEVICE static void add_all(state& s, const float (&x)[N]) {
    static_assert(N > 1);
    float largest = std::fabs(x[0]);
    for (int i = 1; i < N; ++i) largest = larger_or_nan(largest, std::fabs(x[i]));
    if (is_near(largest) && s.reference == 0) {
      for (const float one : x) s.sum += exponential_of_float(one);
    } else {
      add_first(s, x, N);
    }
  }
  /// Adds the first `count` of the elements.
  template <int N>
  FANIN_HOST_DEVICE static void add_first(state& s, const float (&x)[N], int count) {
    several<N> elements;
    for (int i = 0; i < N; ++i) elements.at[i] = x[i];
    s = with_elements(s, elements, count);
  }
  /// Whether only the sums of such states need to be merged, by additions.
  FANIN_HOST_DEVICE static bool is_plain(const state& s) { return s.reference == 0; }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    if (is_plain(s) && is_plain(other)) {
      s.sum += other.sum;
    } else {
      s = merged(s, other);
    }
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t count) {
    // The mean of |x| with the exponentials as weights is at most |S| + log n.
    constexpr double u = accumulator::unit_roundoff<float>, of_mean = 0.0463 * u;
    const double log_of_count = count > 1 ? std::log(static_cast<double>(count)) : 0;
    error_bound found = accumulator::log_sum_bound<R>(chain, count, 1.11 * u + of_mean * log_of_count);
    found.of_result += of_mean;
    return found;
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  template <int N>
  struct several {
    float at[N];
  };

  FANIN_HOST_DEVICE static bool is_near(float x) { return std::fabs(x) <= 600; }
  /// The state with the reference 0, if its reference is near to that.
  FANIN_HOST_DEVICE static state without_reference(const state& s) {
    return is_near(s.reference) ? state{0, s.sum * exponential_of_float(s.reference)} : s;
  }
  // These functions are not inlined, because calls are rare, and the code is long.
  template <int N>
  FANIN_HOST_DEVICE FANIN_NOINLINE static state with_elements(state s, several<N> x, int count) {
    for (int i = 0; i < N; ++i) {
      if (i < count) add(s, x.at[i]);
    }
    return s;
  }
  FANIN_HOST_DEVICE FANIN_NOINLINE static state merged(state s, state other) {
    if (other.sum == 0) return s;
    if (s.sum == 0) return other;
    s = without_reference(s);
    other = without_reference(other);
    const double mine = s.reference, others = other.reference;
    // The difference of two equal infinities would be NaN.
    const double distance = mine == others ? 0 : std::fabs(mine - others);
    const double factor = accumulator::exp_of_negative(-distance);
    if (others > mine) return {other.reference, s.sum * factor + other.sum};
    return {s.reference, s.sum + other.sum * factor};
  }
};

}  // namespace fanin::cuda
