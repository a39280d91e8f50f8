// SPDX-License-Identifier: Apache-2.0
// Variances and standard deviations from rounded sums of x and of x^2. The sums have at least twice the digits of
// an element. So the variance keeps its digits even if the mean is much larger than the deviation.
#pragma once

#include <cmath>
#include <cstdint>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/moments.hpp>
#include <fanin/accumulator/rounded.hpp>

namespace fanin {
namespace accumulator {

struct double_moments {
  double sum;
  double squares;
  friend bool operator==(const double_moments&, const double_moments&) = default;
};
struct compensated_double_moments {
  compensated_state<double> sum;
  compensated_state<double> squares;
};

/// The variance (Q - S^2 / n) / (n - ddof) of n = `count` > ddof numbers, or its root, where S and Q are the sums of
/// the numbers and of their squares. Each sum is a double and a low part. The numbers that are computed from the
/// sums have low parts, too. S is multiplied by the mean and not by S, so the square of S cannot overflow. A
/// difference below 0 counts as 0.
FANIN_HOST_DEVICE FANIN_NOINLINE inline double dispersion_of_sums(const compensated_double_moments& s,
                                                                  std::uint64_t count, dispersion_measure wanted) {
  const auto n = static_cast<double>(count);
  double sum_low, squares_low, rest;
  const double sum = two_sum(s.sum.sum, s.sum.error, sum_low);
  const double squares = two_sum(s.squares.sum, s.squares.error, squares_low);
  const double mean = sum / n;
  const double mean_low = (std::fma(-mean, n, sum) + sum_low) / n;
  const double term = rounded_product(sum, mean);
  const double term_low = std::fma(sum, mean_low, std::fma(sum_low, mean, std::fma(sum, mean, -term)));
  const double difference = two_sum(squares, -term, rest);
  const double centred = difference + (rest + (squares_low - term_low));
  const double variance = (centred < 0 ? 0 : centred) / static_cast<double>(count - wanted.ddof);
  return wanted.root ? std::sqrt(variance) : variance;
}

/// Sums of x and of x^2 in double. A double holds the square of a float exactly.
template <class T>
struct plain_moments {
  static_assert(sizeof(T) < sizeof(double));
  using element = T;
  using state = double_moments;
  using merges_as = plain_moments;
  static constexpr bool order_free = false;
  FANIN_HOST_DEVICE static constexpr state identity() { return {0, 0}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    const double wide = x;
    s.sum += wide;
    s.squares += wide * wide;
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    s.sum += other.sum;
    s.squares += other.squares;
  }
  FANIN_HOST_DEVICE static compensated_double_moments sums(const state& s) { return {{s.sum, 0}, {s.squares, 0}}; }
  static double error_of_sums(const rounding_chain& chain) { return growth<double>(chain.length()); }
  /// These two are arguments of dispersion_bound(). They are 0, because the squares of floats are normal doubles
  /// or 0.
  static constexpr double of_variance = 0;
  static constexpr double lost = 0;
};

/// Compensated sums of x and of x^2 in double. The square of a float is a double. The square of a double is the
/// sum of a double and its rounding error, and both are added.
template <class T>
struct compensated_moments {
  using element = T;
  using state = compensated_double_moments;
  using merges_as = compensated_moments;
  static constexpr bool order_free = false;
  static constexpr bool rounds_squares = sizeof(T) == sizeof(double);
  FANIN_HOST_DEVICE static constexpr state identity() { return {{0, 0}, {0, 0}}; }
  FANIN_HOST_DEVICE static void add(state& s, element x) {
    const double wide = x;
    sum::add(s.sum, wide);
    if constexpr (rounds_squares) {
      compensated_square_sum<double>::add(s.squares, wide);
    } else {
      sum::add(s.squares, wide * wide);
    }
  }
  FANIN_HOST_DEVICE static void merge(state& s, const state& other) {
    sum::merge(s.sum, other.sum);
    sum::merge(s.squares, other.squares);
  }
  FANIN_HOST_DEVICE static compensated_double_moments sums(const state& s) { return s; }
  static double error_of_sums(const rounding_chain& chain) {
    return compensated_sum_bound<double>(chain, 0, rounds_squares ? 1 : 0).of_magnitudes;
  }
  static constexpr double of_variance = 0;
  static constexpr double lost = rounds_squares ? 24 * smallest_subnormal<double> : 0;

 private:
  using sum = compensated_sum<double>;
};

/// The sums of compensated_moments, computed in a faster way. For each state of a leaf's row, a machine may add in
/// double the differences of the elements from one of them, and the squares of these differences. A state of a leaf
/// has at most 32 elements that are not 0. This loses at most `of_variance` times the variance; docs/numerics.md has
/// the proof.
template <class T>
struct shifted_moments : compensated_moments<T> {
  static double error_of_sums(const rounding_chain& chain) {
    constexpr double u = unit_roundoff<double>;
    return carried<double>(growth<double>(chain.length() + 1) + 512 * u, chain.adds + 2 + 2 * chain.merges) +
           2048 * u * u;
  }
  static constexpr double of_variance = 4300 * unit_roundoff<double>;

  /// The origin a is the first element that is not 0. Let s and q be the sums of the n differences from a and of
  /// their squares. Then the sums of x and of x^2 are n a + s and n a^2 + 2 a s + q. Zeros are left out. Zeros
  /// change neither sum, and a zero that stands for an absent element may be far from all other elements.
  static compensated_double_moments of_strided(const T* x, std::size_t count, std::size_t first, std::size_t stride) {
    double a = 0, n = 0, s = 0, q = 0;
    for (std::size_t i = first; i < count && a == 0; i += stride) a = x[i];
    for (std::size_t i = first; i < count; i += stride) {
      if (x[i] == 0) continue;
      const double difference = x[i] - a;
      n += 1;
      s += difference;
      q += rounded_product(difference, difference);
    }
    double of_sum, of_square, of_squares, of_cross, e, e_squares;
    compensated_double_moments total;
    total.sum.sum = two_sum(product(n, a, of_sum), s, e);
    total.sum.error = e + of_sum;
    const double squares = product(n, product(a, a, of_square), of_squares);
    total.squares.sum = two_sum(two_sum(squares, product(a + a, s, of_cross), e), q, e_squares);
    total.squares.error = ((e + e_squares) + (of_squares + of_cross)) + rounded_product(n, of_square);
    return total;
  }

 private:
  /// Returns fl(x y), and sets `error` to the rounding error.
  static double product(double x, double y, double& error) {
    const double p = rounded_product(x, y);
    error = std::fma(x, y, -p);
    return p;
  }
};

/// Variance or standard deviation from the sums of Moments.
template <class Moments, bool Root = false, unsigned Ddof = 0>
struct rounded_dispersion_of : Moments {
  using folds_as = Moments;
  template <class R>
  FANIN_HOST_DEVICE static R finish(const typename Moments::state& s, std::uint64_t count) {
    return canonical(static_cast<R>(dispersion_of_sums(Moments::sums(s), count, {Root, Ddof})));
  }
  template <class R>
  static error_bound bound(const rounding_chain& chain, std::uint64_t) {
    return dispersion_bound<R>(Moments::error_of_sums(chain), Moments::of_variance, Moments::lost, Root);
  }
};

/// The accumulator of the sums for an element type and method.
template <method How, class T>
struct moments_of {
  using type = compensated_moments<T>;
};
template <>
struct moments_of<method::fast, float> {
  using type = plain_moments<float>;
};
template <>
struct moments_of<method::fast, double> {
  using type = shifted_moments<double>;
};
template <method How, class T, bool Root, unsigned Ddof>
using dispersion_recipe = uses<rounded_dispersion_of<typename moments_of<How, T>::type, Root, Ddof>>;

}  // namespace accumulator

template <method How, std::floating_point T>
requires(How != method::exact) struct recipe_for<operation::variance, How, T>
    : accumulator::dispersion_recipe<How, T, false, 0> {
};
template <method How, std::floating_point T>
requires(How != method::exact) struct recipe_for<operation::standard_deviation, How, T>
    : accumulator::dispersion_recipe<How, T, true, 0> {
};
template <method How, std::floating_point T>
requires(How != method::exact) struct recipe_for<operation::sample_variance, How, T>
    : accumulator::dispersion_recipe<How, T, false, 1> {
};
template <method How, std::floating_point T>
requires(How != method::exact) struct recipe_for<operation::sample_standard_deviation, How, T>
    : accumulator::dispersion_recipe<How, T, true, 1> {
};

}  // namespace fanin
