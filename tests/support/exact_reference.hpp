// The exact sums of an input of floats, and whether a value is as near to them as its bound says.
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include <fanin/accumulator/exact.hpp>
#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "oracle/promise.hpp"
#include "tests/support/exact_number.hpp"

namespace fanin::test {

template <class T>
class exact_reference {
 public:
  explicit exact_reference(std::span<const T> x) : count_(x.size()) {
    for (const T v : x) {
      sum_.add(v);
      if (std::isfinite(v)) magnitudes_.add(std::abs(v));
      squares_.add(v);
    }
  }

  /// The correctly rounded sum, mean or sum of squares.
  template <class R>
  R rounded(operation what) const {
    if (what == operation::sum_of_squares) return squares_.template round<R>();
    return what == operation::mean ? sum_.template mean<R>(count_) : sum_.template round<R>();
  }

  /// Whether `value` is the correctly rounded norm2, variance or dot product with themselves of finite elements, by
  /// other arithmetic than fanin's.
  template <class R>
  bool is_rounded(operation what, R value) const {
    if (what == operation::dot) return value == squares_.template round<R>();
    constexpr int unit = detail::float_format<T>::low;
    const exact_number squares = exact_number::saved(squares_.save()).scaled(2 * unit);
    if (what == operation::norm2) return is_root(value, squares);
    return is_variance(value, exact_number::saved(sum_.save()).scaled(unit), squares, count_);
  }

  /// Whether `value` keeps its bound, if that promises anything.
  bool keeps(operation what, T value, const error_bound& bound) const {
    if (what == operation::sum_of_squares) return keeps(squares_, squares_, value, 1, bound);
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
