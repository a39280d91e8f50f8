// SPDX-License-Identifier: Apache-2.0
// The right results of the operations that only compare elements, by the standard library's algorithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include <fanin/result.hpp>

namespace fanin::test {

template <class T>
class comparison {
 public:
  explicit comparison(std::span<const T> x) : x_(x) {}

  /// The result of an operation for which nothing rounds.
  scalar result(operation what) const {
    if (what == operation::count_nonzero) return static_cast<std::uint64_t>(nonzeros());
    if (what == operation::any) return static_cast<std::uint8_t>(nonzeros() > 0);
    if (what == operation::all) return static_cast<std::uint8_t>(nonzeros() == x_.size());
    if (what == operation::max_magnitude) return magnitude();
    if (what == operation::minmax) return extremes<T>{value(place(false)), value(place(true))};
    const std::size_t at = place(what == operation::max || what == operation::argmax);
    if (row_of(what).form == result_form::indexed) return indexed<T>{value(at), at};
    return value(at);
  }

 private:
  static bool below(T a, T b) {
    if constexpr (floating<T>) return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    return a < b;
  }
  static bool is_nan(T v) { return v != v; }

  /// The place of the first NaN, or if there is none, of the first extremum.
  std::size_t place(bool largest) const {
    const auto nan = std::ranges::find_if(x_, is_nan);
    const auto at = nan != x_.end() ? nan
                    : largest       ? std::ranges::max_element(x_, below)
                                    : std::ranges::min_element(x_, below);
    return static_cast<std::size_t>(at - x_.begin());
  }
  T value(std::size_t at) const { return is_nan(x_[at]) ? std::numeric_limits<T>::quiet_NaN() : x_[at]; }
  std::size_t nonzeros() const {
    return x_.size() - static_cast<std::size_t>(std::ranges::count_if(x_, [](T v) { return v == T{0}; }));
  }
  scalar magnitude() const {
    using R = std::conditional_t<floating<T>, computed_as<T>, std::uint64_t>;
    R most = 0;
    for (const T v : x_) {
      const R size = v < 0 ? R{0} - static_cast<R>(v) : static_cast<R>(v);
      if (is_nan(v)) return value(place(true));
      if (size > most) most = size;
    }
    return static_cast<std::conditional_t<floating<T>, T, std::uint64_t>>(most);
  }

  std::span<const T> x_;
};

/// The operations for which nothing rounds.
inline bool only_compares(operation what) { return row_of(what).unrounded; }

}  // namespace fanin::test
