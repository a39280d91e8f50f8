// SPDX-License-Identifier: Apache-2.0
// The right results of finite input: exact sums for floats, 128-bit arithmetic for integers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"
#include "tests/support/compared.hpp"
#include "tests/support/exact_number.hpp"

namespace fanin::test {

/// The measure of dispersion that an operation of that name is.
inline dispersion_measure dispersion_named(operation what) {
  const bool sample = what == operation::sample_variance || what == operation::sample_standard_deviation;
  return {what == operation::standard_deviation || what == operation::sample_standard_deviation, sample ? 1u : 0u};
}

inline bool is_dispersion_operation(operation what) {
  return what == operation::variance || what == operation::standard_deviation || what == operation::sample_variance ||
         what == operation::sample_standard_deviation;
}

/// Whether the result is the sum of the squares. A dot product is one, because both inputs are the same array.
inline bool is_of_squares(operation what) {
  return what == operation::sum_of_squares || what == operation::dot || what == operation::vdot;
}

template <class Element>
class exact_reference {
  using T = computed_as<Element>;

 public:
  exact_reference() = default;
  explicit exact_reference(std::span<const Element> x) {
    for (const Element v : x) add(v);
  }
  void add(Element element) {
    const T v = static_cast<T>(element);
    ++count_;
    sum_.add(v);
    if (std::isfinite(v)) magnitudes_.add(std::abs(v));
    squares_.add(v);
  }

  /// The correctly rounded sum, mean, sum of squares or of magnitudes, norm2, variance, standard deviation, or dot
  /// product of the elements with themselves.
  template <class R>
  R rounded(operation what) const {
    if (is_dispersion_operation(what)) {
      return exact_moments_accumulator<T>{sum_, squares_}.template dispersion_of<R>(count_, dispersion_named(what));
    }
    if (what == operation::sum_of_magnitudes) return magnitudes_.template round<R>();
    if (is_of_squares(what)) return squares_.template round<R>();
    if (what == operation::norm2) return squares_.template root<R>();
    return what == operation::mean ? sum_.template mean<R>(count_) : sum_.template round<R>();
  }

  /// Whether `value` is the correctly rounded norm2, variance or standard deviation of finite elements, by other
  /// arithmetic than fanin's.
  template <class R>
  bool is_rounded(operation what, R value) const {
    constexpr int unit = detail::float_format<T>::low;
    const exact_number squares = exact_number::saved(squares_.save()).scaled(2 * unit);
    if (what == operation::norm2) return is_root(value, squares);
    return is_dispersion(value, exact_number::saved(sum_.save()).scaled(unit), squares, count_,
                         dispersion_named(what));
  }

  /// Whether `value` keeps its bound, if that promises anything.
  bool keeps(operation what, T value, const error_bound& bound) const {
    if (is_of_squares(what)) return keeps(squares_, squares_, value, 1, bound);
    if (what == operation::norm2) return keeps_root(value, bound);
    if (is_dispersion_operation(what)) return keeps_dispersion(what, value, bound);
    if (what == operation::sum_of_magnitudes) return keeps(magnitudes_, magnitudes_, value, 1, bound);
    return keeps(sum_, magnitudes_, value, what == operation::mean ? count_ : 1, bound);
  }

 private:
  /// |S / times - value| <= bound, both sides times `times`.
  template <class Sum>
  static bool keeps(const Sum& sum, const Sum& magnitudes, T value, std::uint64_t times, const error_bound& bound) {
    const oracle::exact_facts exact{sum.template round<double>(), magnitudes.template round<double>(),
                                    static_cast<double>(times)};
    return oracle::judge(bound, type_of<T>, static_cast<double>(value), exact,
                         [&] { return distance(sum, value, times); }) != oracle::promise::broken;
  }

  bool keeps_root(T value, const error_bound& bound) const {
    return keeps_rounded({squares_.template root<double>(), squares_.template round<double>()}, value, bound);
  }
  bool keeps_dispersion(operation what, T value, const error_bound& bound) const {
    const dispersion_measure wanted = dispersion_named(what);
    return keeps_rounded(oracle::dispersion_facts(rounded<double>(what), squares_.template round<double>(),
                                                  static_cast<double>(count_ - wanted.ddof), wanted.root),
                         value, bound);
  }
  /// The exact result is known but for its rounding to double, which the bound is given for.
  static bool keeps_rounded(const oracle::exact_facts& exact, T value, error_bound bound) {
    bound.of_result += std::numeric_limits<double>::epsilon();
    const auto got = static_cast<double>(value);
    return oracle::judge(bound, type_of<T>, got, exact, [&] { return std::abs(got - exact.result); }) !=
           oracle::promise::broken;
  }

  /// |S - times * value|: the difference is exact and rounded once.
  template <class Sum>
  static double distance(Sum sum, T value, std::uint64_t times) {
    using limits = std::numeric_limits<T>;
    if (value != 0) {
      const int unit = std::max(std::ilogb(value) + 1, limits::min_exponent) - limits::digits;
      const auto mantissa = static_cast<detail::int128>(std::ldexp(static_cast<double>(value), -unit));
      sum.add_scaled(-mantissa * static_cast<detail::int128>(times), unit);
    }
    return std::abs(sum.template round<double>());
  }

  std::uint64_t count_ = 0;
  exact_accumulator<T> sum_, magnitudes_;
  exact_square_accumulator<T> squares_;
};

/// The right results of integers in any order. Dot products are products of the elements with themselves.
template <class T>
class integer_reference {
  using int128 = detail::int128;
  using uint128 = detail::uint128;
  using R = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;

 public:
  integer_reference() = default;
  explicit integer_reference(std::span<const T> x) {
    for (std::size_t i = 0; i < x.size(); ++i) add(x[i], i);
  }
  void add(T v, std::size_t place) {
    const auto size = static_cast<std::uint64_t>(v < 0 ? -int128{v} : int128{v});
    const uint128 square = uint128{size} * size;
    ++count_;
    sum_ += v;
    magnitudes_ += size;
    low_squares_ += static_cast<std::uint64_t>(square);
    high_squares_ += square >> 64;
    has_zero_ = has_zero_ || v == 0;
    is_negative_ = is_negative_ != (v < 0);
    if (v != 0 && product_ >> 64 == 0) product_ *= size;  // no other factor brings it down again
    compared_.add(v, place);
  }

  /// The value, or nothing where it is the error `overflow`. There is an element, and integers have the operation.
  /// Places count from `first`.
  std::optional<scalar> result(operation what, std::size_t first = 0) const {
    switch (what) {
      case operation::sum:
        return fitting(sum_);
      case operation::sum_of_magnitudes:
        return fitting(static_cast<int128>(magnitudes_));
      case operation::mean: {
        exact_accumulator<double> quotient;
        quotient.add_scaled(sum_, 0);
        return scalar(quotient.mean(count_));
      }
      case operation::sum_of_squares: {
        const uint128 high = high_squares_ + (low_squares_ >> 64);
        return fitting(high >> 63 == 0 ? static_cast<int128>(high << 64 | static_cast<std::uint64_t>(low_squares_))
                                       : beyond);
      }
      case operation::product: {
        if (has_zero_) return scalar(R{0});
        const int128 size = product_ >> 64 == 0 ? static_cast<int128>(product_) : beyond;
        return fitting(is_negative_ ? -size : size);
      }
      case operation::variance:
      case operation::standard_deviation:
      case operation::sample_variance:
      case operation::sample_standard_deviation:
        return scalar(dispersion(dispersion_named(what)));
      case operation::norm2:
      case operation::dot:
      case operation::vdot:
        return scalar(squares().over(1, what == operation::norm2));
      default:
        return compared_.result(what, first);
    }
  }

 private:
  static constexpr int128 beyond = int128{1} << 100;  ///< stands for every size over 64 bits

  static std::optional<scalar> fitting(int128 v) {
    if (v < std::numeric_limits<R>::min() || v > std::numeric_limits<R>::max()) return {};
    return scalar(static_cast<R>(v));
  }
  exact_number squares() const {
    exact_number squares = exact_number::of(static_cast<int128>(high_squares_)).scaled(64);
    squares += exact_number::of(static_cast<int128>(low_squares_));
    return squares;
  }
  /// The variance (n Q - S^2) / (n (n - ddof)) of n integers, or its root, where S and Q are the sums of the elements
  /// and of their squares.
  double dispersion(dispersion_measure wanted) const {
    const auto count = exact_number::of(count_);
    exact_number numerator = count * squares();
    numerator -= exact_number::of(sum_) * exact_number::of(sum_);
    return numerator.over(count * exact_number::of(count_ - wanted.ddof), wanted.root);
  }

  std::uint64_t count_ = 0;
  int128 sum_ = 0;
  uint128 magnitudes_ = 0;
  uint128 low_squares_ = 0, high_squares_ = 0;  ///< sums of the low and the high 64 bits of each square
  uint128 product_ = 1;                         ///< of the magnitudes of factors other than 0
  bool has_zero_ = false, is_negative_ = false;
  comparison<T> compared_;
};

}  // namespace fanin::test
