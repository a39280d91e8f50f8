// The exact sums of an input of floats, and whether a value is as near to them as its bound says.
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

namespace fanin::test {

template <class T>
class exact_reference {
 public:
  explicit exact_reference(std::span<const T> x) : count_(x.size()) {
    for (const T v : x) {
      sum_.add(v);
      magnitudes_.add(std::abs(v));
      squares_.add(v);
    }
  }

  /// The correctly rounded sum, mean or sum of squares.
  template <class R>
  R rounded(operation what) const {
    if (what == operation::sum_of_squares) return squares_.template round<R>();
    return what == operation::mean ? sum_.template mean<R>(count_) : sum_.template round<R>();
  }

  /// Whether `value` keeps its bound. Where an intermediate overflow is possible nothing is promised.
  bool keeps(operation what, T value, const error_bound& bound) const {
    if (what == operation::sum_of_squares) return keeps(squares_, squares_, value, 1, bound);
    return keeps(sum_, magnitudes_, value, what == operation::mean ? count_ : 1, bound);
  }

 private:
  /// |S / times - value| <= bound, both sides times `times`.
  template <class Sum>
  static bool keeps(const Sum& sum, const Sum& magnitudes, T value, std::uint64_t times, const error_bound& bound) {
    const double most = magnitudes.template round<double>();
    if (!(most <= static_cast<double>(std::numeric_limits<T>::max()) / 2)) return true;
    if (!std::isfinite(value)) return false;
    if (std::isinf(bound.of_result) || std::isinf(bound.of_magnitudes)) return true;
    const double limit = bound.of_result * std::abs(sum.template round<double>()) + bound.of_magnitudes * most +
                         bound.absolute * static_cast<double>(times);
    constexpr double own_roundings = 1 + 0x1p-49;  // of this function: eight of 2^-53 at most
    return distance(sum, value, times) <= limit * own_roundings;
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

  std::uint64_t count_;
  exact_accumulator<T> sum_, magnitudes_;
  exact_square_accumulator<T> squares_;
};

}  // namespace fanin::test
