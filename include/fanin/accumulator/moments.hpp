// SPDX-License-Identifier: Apache-2.0
// Variances and standard deviations with a single rounding. S is the sum of x, and Q is the sum of x^2. The
// variance is (n Q - S^2) / (n (n - ddof)). The numerator is computed exactly in integers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/root.hpp>

namespace fanin {

/// A measure of dispersion: the standard deviation if `root`, otherwise the variance. `ddof` is 0 for a population
/// and 1 for a sample.
struct dispersion_measure {
  bool root = false;
  unsigned ddof = 0;
};

namespace detail {

/// Sets product = x * factor. The least significant words come first.
template <int N, int M>
FANIN_HOST_DEVICE void multiply(const std::uint32_t (&x)[N], std::uint64_t factor, std::uint32_t (&product)[M]) {
  static_assert(M == N + 2);
  uint128 carry = 0;
  FANIN_ROLLED for (int i = 0; i < M; ++i) {
    carry += static_cast<uint128>(i < N ? x[i] : 0) * factor;
    product[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

/// Subtracts y^2, which is at most x, from x.
template <int N, int M>
FANIN_HOST_DEVICE void subtract_square(const std::uint32_t (&y)[N], std::uint32_t (&x)[M]) {
  static_assert(M >= 2 * N);
  FANIN_ROLLED for (int i = 0; i < N; ++i) {
    if (y[i] == 0) continue;
    std::uint64_t carry = 0;  // the carry of the product, plus the borrow of x[i + j]
    for (int j = 0; i + j < M && (j < N || carry != 0); ++j) {
      carry += static_cast<std::uint64_t>(y[i]) * (j < N ? y[j] : 0);
      const auto low = static_cast<std::uint32_t>(carry);
      carry = (carry >> 32) + (x[i + j] < low ? 1 : 0);
      x[i + j] -= low;
    }
  }
}

/// The variance (count * squares - sum^2) / (count (count - ddof)), or its root, as `wanted` says. The result is
/// rounded once to R, and `to` is the format of R. `squares` is in units of 2^low. `sum` is the magnitude of the
/// sum, in units of 2^(low/2), and low is even. The least significant words come first.
template <class R, class To = float_format<R>, int N, int M>
FANIN_HOST_DEVICE typename To::value rounded_dispersion(const std::uint32_t (&sum)[N],
                                                        const std::uint32_t (&squares)[M], int low,
                                                        std::uint64_t count, dispersion_measure wanted, To to = {}) {
  std::uint32_t numerator[M + 2];
  multiply(squares, count, numerator);
  subtract_square(sum, numerator);
  const bool is_shift = wanted.ddof == 0 && (count & (count - 1)) == 0;  // count^2 is an even power of two
  for (std::uint64_t power = count; is_shift && power > 1; power /= 2) low -= 2;
  // If seven words are divided by 2^128, more bits are left than R has. If nine words are divided, more than the
  // 127 bits are left that a root needs.
  if (wanted.root) {
    leading_words<9> quotient(numerator);
    if (!is_shift) quotient.divide(count);
    if (!is_shift) quotient.divide(count - wanted.ddof);
    return rounded_root<R>(quotient.word, low + 32 * quotient.first, quotient.sticky, to);
  }
  leading_words<7> quotient(numerator);
  if (!is_shift) quotient.divide(count);
  if (!is_shift) quotient.divide(count - wanted.ddof);
  return to.made_of(round_magnitude<R>(quotient.word, low + 32 * quotient.first, quotient.sticky, to));
}

}  // namespace detail

/// The exact sums of up to 2^63 elements and of their squares.
/// Trivially copyable; merging in any order gives the same state. Does not depend on the floating-point environment.
/// Threads: calls of const members may overlap; any other call has to be the only one.
template <class T>
struct exact_moments_accumulator {
  using value_type = T;

  exact_accumulator<T> sum;
  exact_square_accumulator<T> squares;

  FANIN_HOST_DEVICE void add(T x) {
    sum.add(x);
    squares.add(x);
  }

  /// Adds everything that was added to `other`.
  FANIN_HOST_DEVICE void merge(const exact_moments_accumulator& other) {
    sum.merge(other.sum);
    squares.merge(other.squares);
  }

  /// The lanes of both sums, as basic_exact_accumulator::write_lanes() writes them.
  static constexpr std::size_t lane_count =
      exact_accumulator<T>::lane_count + exact_square_accumulator<T>::lane_count;
  void write_lanes(std::int64_t* out) const {
    sum.write_lanes(out);
    squares.write_lanes(out + exact_accumulator<T>::lane_count);
  }
  static exact_moments_accumulator read_lanes(const std::int64_t* lanes) {
    return {exact_accumulator<T>::read_lanes(lanes),
            exact_square_accumulator<T>::read_lanes(lanes + exact_accumulator<T>::lane_count)};
  }

  /// The variance or standard deviation of the `count` > ddof elements that were added, rounded once. Equal elements
  /// give +0; any NaN or infinity gives NaN.
  template <class R = T, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE typename To::value dispersion_of(std::uint64_t count, dispersion_measure wanted,
                                                     To to = {}) const {
    using square_type = typename exact_square_accumulator<T>::sum_type;
    if (!sum.finite()) return to.made_of(to.quiet_nan);
    typename exact_accumulator<T>::sum_type::words total;
    typename square_type::words square_total;
    sum.total().split(total);
    squares.total().split(square_total);
    return detail::rounded_dispersion<R>(total, square_total, 2 * detail::float_format<T>::low, count, wanted, to);
  }
  /// The population variance.
  template <class R = T>
  FANIN_HOST_DEVICE R variance(std::uint64_t count) const {
    return dispersion_of<R>(count, {});
  }
};

namespace accumulator {

/// The exact sums of up to 2^63 integers and of their squares. The sums take 127 and 189 bits.
struct integer_moments {
  int128 sum;
  uint128 squares;
  std::uint64_t squares_high;  ///< the bits from 2^128 up
};

/// The words of the sum of the squares, least significant first.
FANIN_HOST_DEVICE inline void split_squares(const integer_moments& s, std::uint32_t (&words)[8]) {
  for (int i = 0; i < 4; ++i) {
    words[i] = static_cast<std::uint32_t>(s.squares >> (32 * i));
    words[4 + i] = i < 2 ? static_cast<std::uint32_t>(s.squares_high >> (32 * i)) : 0;
  }
}

/// Sets `result` to the double that is nearest to a / b, or to the root of a / b, for b > 0, and returns true.
/// Returns false if doubles do not decide which one is the nearest. Needs rounding to nearest. The quotient of
/// integers below 2^53 is rounded once. The root of the quotient is first rounded twice. A correction then says
/// whether a neighbour is nearer. Both remainders in the correction are exact (fused multiply-adds of a rounded
/// quotient and a rounded root); its roundings are off by less than 2^-48 of half a unit in the last place, and
/// 2^-20 is left as a margin.
FANIN_HOST_DEVICE inline bool decide_quotient(std::uint64_t a, std::uint64_t b, bool root, double& result) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 53;
  if (a >= limit || b >= limit) return false;
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  const double quotient = result = x / y;
  if (!root || a == 0) return true;
  const double near = std::sqrt(quotient), rest = std::fma(-quotient, y, x) / y;
  const double correction = (std::fma(-near, near, quotient) + rest) / (2 * near);
  const auto bits = fanin::detail::to_bits(near);
  const double half_ulp = fanin::detail::from_bits<double>(bits >> 52 << 52) * 0x1p-53;
  result = near + correction;
  const bool is_power_of_two = bits << 12 == 0;  // The neighbour below is nearer than the one above.
  const double distance = std::fabs(std::fabs(correction) - half_ulp);
  return correction == 0 || (!is_power_of_two && distance > half_ulp * 0x1p-20);
}

/// Sets `result` to the rounded measure of `count` > ddof integers, and returns true, if doubles decide it.
FANIN_HOST_DEVICE inline bool decide_dispersion(const integer_moments& s, std::uint64_t count,
                                                dispersion_measure wanted, double& result) {
  const auto squares = static_cast<std::uint64_t>(s.squares), sum = static_cast<std::uint64_t>(s.sum);
  if (s.squares_high != 0 || s.squares != squares || (uint128{squares} * count) >> 64 != 0 || count >> 32 != 0) {
    return false;
  }
  // 0 <= sum^2 <= count * squares < 2^64, so that the difference is right modulo 2^64.
  return decide_quotient(squares * count - sum * sum, count * (count - wanted.ddof), wanted.root, result);
}
/// Sets `result` to the rounded root of the sum of squares, and returns true, if the sum is below 2^53.
FANIN_HOST_DEVICE inline bool decide_norm(const integer_moments& s, double& result) {
  if (s.squares >> 53 != 0 || s.squares_high != 0) return false;
  result = std::sqrt(static_cast<double>(static_cast<std::uint64_t>(s.squares)));
  return true;
}

/// The variance or standard deviation of `count` > ddof integers, rounded once.
FANIN_HOST_DEVICE FANIN_NOINLINE inline double rounded_dispersion(const integer_moments& s, std::uint64_t count,
                                                                  dispersion_measure wanted) {
#ifdef __CUDA_ARCH__  // A GPU takes long for the integers below, and a caller's rounding mode does not reach it.
  double result;
  if (decide_dispersion(s, count, wanted, result)) return result;
#endif
  std::uint32_t sum[4], squares[8];
  const auto size = static_cast<uint128>(s.sum < 0 ? -s.sum : s.sum);
  for (int i = 0; i < 4; ++i) sum[i] = static_cast<std::uint32_t>(size >> (32 * i));
  split_squares(s, squares);
  return fanin::detail::rounded_dispersion<double>(sum, squares, 0, count, wanted);
}

/// Variance or standard deviation of integers, correctly rounded to double.
template <class T, bool Root = false, unsigned Ddof = 0>
struct integer_dispersion {
  using element = T;
  using state = integer_moments;
  using folds_as = integer_dispersion<T>;
  using merges_as = integer_dispersion<std::int64_t>;
  static constexpr bool order_free = true;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0, 0}; }
  template <class Integer>
  FANIN_HOST_DEVICE static void add(state& s, Integer x) {
    const auto bits = static_cast<std::uint64_t>(x), size = x < 0 ? 0 - bits : bits;
    merge(s, {x, static_cast<uint128>(size) * size, 0});
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.sum += other.sum;
    // 64 bits at a time, so that a GPU keeps the carries in flags. A comparison of 128 bits takes nine instructions.
    const uint128 low = uint128{static_cast<std::uint64_t>(s.squares)} + static_cast<std::uint64_t>(other.squares);
    const uint128 high = (s.squares >> 64) + (other.squares >> 64) + (low >> 64);
    s.squares = high << 64 | static_cast<std::uint64_t>(low);
    s.squares_high += other.squares_high + static_cast<std::uint64_t>(high >> 64);
  }
  template <class R>
  FANIN_HOST_DEVICE static R finish(const state& s, std::uint64_t count) {
    return rounded_dispersion(s, count, {Root, Ddof});
  }
  template <class R>
  static error_bound bound(const rounding_chain&, std::uint64_t) {
    return rounded_bound<R>();
  }
};

/// Square root of the sum of the squares of integers, correctly rounded to double.
template <class T>
struct integer_norm : integer_dispersion<T> {
  template <class R>
  FANIN_HOST_DEVICE static R finish(const integer_moments& s, std::uint64_t) {
#ifdef __CUDA_ARCH__
    double result;
    if (decide_norm(s, result)) return result;
#endif
    std::uint32_t squares[8];
    split_squares(s, squares);
    return fanin::detail::rounded_root<R>(squares, 0);
  }
};

}  // namespace accumulator

template <std::integral T>
struct recipe_for<operation::norm2, method::fast, T> : accumulator::uses<accumulator::integer_norm<T>> {};
template <std::integral T>
struct recipe_for<operation::variance, method::fast, T> : accumulator::uses<accumulator::integer_dispersion<T>> {};
template <std::integral T>
struct recipe_for<operation::standard_deviation, method::fast, T>
    : accumulator::uses<accumulator::integer_dispersion<T, true>> {};
template <std::integral T>
struct recipe_for<operation::sample_variance, method::fast, T>
    : accumulator::uses<accumulator::integer_dispersion<T, false, 1>> {};
template <std::integral T>
struct recipe_for<operation::sample_standard_deviation, method::fast, T>
    : accumulator::uses<accumulator::integer_dispersion<T, true, 1>> {};

}  // namespace fanin
