// SPDX-License-Identifier: Apache-2.0
// The formulas of the proven error bounds; docs/numerics.md has the proofs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fanin/error_bound.hpp>

namespace fanin::accumulator {

/// 2^-n.
constexpr double halved(int n) {
  double power = 1;
  for (; n > 0; --n) power /= 2;
  return power;
}

/// The unit roundoff u of T, which is half the distance from 1 to the next T. The relative error of one rounding
/// is at most u.
template <class T>
inline constexpr double unit_roundoff = halved(std::numeric_limits<T>::digits);

template <class T>
inline constexpr double smallest_subnormal = halved(std::numeric_limits<T>::digits -
                                                    std::numeric_limits<T>::min_exponent);

/// A factor that is larger than the rounding errors of the few double operations in a bound.
inline constexpr double round_up = 1 + 0x1p-48;

/// g(k) = k u / (1 - k u), rounded up; infinite from k u = 1 on. [Higham 2002, 3.1]
template <class T>
constexpr double growth(double k) {
  const double ku = k * unit_roundoff<T>;
  return ku < 1 ? ku / (1 - ku) * round_up : std::numeric_limits<double>::infinity();
}

/// Bound of a sum of `count` terms in T. `term_roundings` says how often a term is rounded before it is added.
/// Each of these roundings loses at most half the smallest subnormal to underflow.
template <class T>
constexpr error_bound plain_sum_bound(const rounding_chain& chain, std::uint64_t count, int term_roundings = 0) {
  const double underflow =
      term_roundings == 0 ? 0 : term_roundings * static_cast<double>(count) * smallest_subnormal<T>;
  return {0, growth<T>(chain.length() + term_roundings), underflow};
}

/// (1 + u) g(chain) `errors`: a bound, as a multiple of M, on the error of the sum of rounding errors whose
/// magnitudes are at most `errors` M together.
template <class T>
constexpr double carried(double errors, double chain) {
  return (1 + unit_roundoff<T>)*errors * growth<T>(chain) * round_up;
}

/// u |S| + (1 + u) g(d) g(d') M: the rounding errors of the chain into `sum` are at most g(d) M together, and they
/// are added along a chain of d' additions, which has two additions for each merge. [Ogita, Rump, Oishi 2005]
template <class T>
constexpr error_bound compensated_sum_bound(const rounding_chain& chain, std::uint64_t count,
                                            int term_roundings = 0) {
  const double underflow = 2 * term_roundings * static_cast<double>(count) * smallest_subnormal<T>;
  const double into_sum = chain.length() + term_roundings;
  const double into_error = chain.adds + 1 + term_roundings + 2 * chain.merges;
  return {unit_roundoff<T>, carried<T>(growth<T>(into_sum), into_error), underflow};
}

/// The bound of a sum whose terms are not negative. M is then the exact result.
constexpr error_bound of_positive_terms(const error_bound& sum) {
  return {sum.of_result + sum.of_magnitudes, 0, sum.absolute};
}

/// The bound of a mean, from the bound of its sum. The mean is computed in double from the finished sum. Three
/// roundings are counted: of the finished sum to double, of the quotient, and of the mean to T. An underflow loses
/// at most the smallest subnormal.
template <class T>
constexpr error_bound divided(const error_bound& sum) {
  constexpr double extra = unit_roundoff<T> + 3 * unit_roundoff<double>;
  return {(sum.of_result * (1 + extra) + extra) * round_up, sum.of_magnitudes * (1 + extra) * round_up,
          sum.absolute + smallest_subnormal<T>};
}

/// The bound of a square root, from the bound of the sum of squares S. If S is off by at most c S + a, the root is
/// off by at most c sqrt(S) + sqrt(a). The root is computed in double from the finished sum. Three roundings are
/// counted: of the finished sum to double, of the root, and of the result to T. An underflow loses at most the
/// smallest subnormal.
template <class T>
error_bound rooted(const error_bound& squares) {
  constexpr double extra = unit_roundoff<T> + 2 * unit_roundoff<double>;
  const double of_sum = squares.of_result;
  if (!(of_sum < 1)) return {std::numeric_limits<double>::infinity(), 0, 0};
  return {(of_sum * (1 + extra) + extra) * round_up, 0,
          std::sqrt(squares.absolute) * (1 + extra) * round_up + smallest_subnormal<T>};
}

/// The bound of a variance, or with `root` of a standard deviation, from a sum S of x and a sum Q of x^2 in
/// double.
/// - S is off by at most `of_sums` times the sum of |x|, and Q by at most `of_sums` times the sum of x^2.
/// - M is the sum of x^2, divided by n or n - 1 as the variance is. For a standard deviation M is then divided by
///   the standard deviation.
/// - Q - S^2 / n is computed in double with low parts, and is off by less than 40 u^2 Q more.
/// - Then follow an addition, a quotient, the root, and the rounding to R.
/// - Besides, the variance loses at most `of_variance` times the variance, and at most `lost` to underflow.
template <class R>
error_bound dispersion_bound(double of_sums, double of_variance, double lost, bool root) {
  constexpr double u = unit_roundoff<double>;
  constexpr double extra = (sizeof(R) < sizeof(double) ? unit_roundoff<R> : 0) + 4 * u;
  const double of_squares = (of_sums * (3.001 + of_sums) + 40 * u * u) * round_up;
  const double absolute = root ? std::sqrt(lost) : lost;
  return {(of_variance * (1 + extra) + extra) * round_up, of_squares * (1 + extra) * round_up,
          absolute * (1 + extra) * round_up + smallest_subnormal<R>};
}

/// The bound of a product of `count` factors, which has count - 1 roundings. [Higham 2002, 3.1]
template <class T>
constexpr error_bound product_bound(std::uint64_t count) {
  if (count <= 1) return {};
  return {growth<T>(static_cast<double>(count - 1)), 0, 0, true};
}

/// The bound of log(sum of e^x). Let m be the largest element.
/// - The sum of e^(x - m) is computed in double, and the differences of elements are rounded.
/// - The term of an element passes the steps of `chain`. Each step multiplies by an exponential that has an error
///   of two units roundoff, and adds.
/// - `of_terms` is a further relative error of the terms.
/// - Then follow the logarithm, with an error of six units roundoff, the addition of m, and the rounding to R.
template <class R>
error_bound log_sum_bound(const rounding_chain& chain, std::uint64_t count, double of_terms = 0) {
  constexpr double u = unit_roundoff<double>;
  constexpr double extra = sizeof(R) < sizeof(double) ? u + unit_roundoff<R> * (1 + u) : u;
  const double log_of_count = count > 1 ? std::log(static_cast<double>(count)) : 0;
  const double of_steps = growth<double>(4 * chain.length()) * (1 + of_terms) + of_terms;
  const double of_sum = of_steps + (1 + of_steps) * 1.001 * u * log_of_count;
  if (!(of_sum < 1)) return {std::numeric_limits<double>::infinity(), 0, 0};
  const double of_log = of_sum / (1 - of_sum);
  return {extra * round_up, 0,
          (of_log + 6 * u * (log_of_count + of_log)) * (1 + extra) * round_up + smallest_subnormal<R>};
}

/// The bound of one correct rounding to T, where the result may be subnormal. Half of the smallest subnormal double
/// is not a double, so it is rounded up.
template <class T>
constexpr error_bound rounded_bound() {
  return {unit_roundoff<T>, 0, std::max(smallest_subnormal<T> / 2, std::numeric_limits<double>::denorm_min())};
}

}  // namespace fanin::accumulator
