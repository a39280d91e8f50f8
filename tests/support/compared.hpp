// SPDX-License-Identifier: Apache-2.0
// The right results of the operations that only compare elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include <fanin/result.hpp>

namespace fanin::test {

/// Compares elements that are added with their places, in any order.
template <class T>
class comparison {
  using N = std::conditional_t<floating<T>, computed_as<T>, T>;

 public:
  comparison() = default;
  explicit comparison(std::span<const T> x) {
    for (std::size_t i = 0; i < x.size(); ++i) add(x[i], i);
  }
  void add(T element, std::size_t place) {
    const N v = static_cast<N>(element);
    ++count_;
    nonzeros_ += v == 0 ? 0u : 1u;
    if (v != v) {
      nan_ = std::min(nan_, place);
      return;
    }
    most_ = std::max(most_, v < 0 ? magnitude{0} - static_cast<magnitude>(v) : static_cast<magnitude>(v));
    if (comes_first(v, least_.value, place, least_.index)) least_ = {v, place};
    if (comes_first(largest_.value, v, place, largest_.index)) largest_ = {v, place};
  }

  /// The result of an operation for which nothing rounds. Places count from `first`.
  scalar result(operation what, std::size_t first = 0) const {
    if (what == operation::count_nonzero) return nonzeros_;
    if (what == operation::any) return static_cast<std::uint8_t>(nonzeros_ > 0);
    if (what == operation::all) return static_cast<std::uint8_t>(nonzeros_ == count_);
    const bool has_nan = nan_ != nowhere;
    const auto value = [&](const indexed<N>& extremum) {
      return has_nan ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(extremum.value);
    };
    if (what == operation::max_magnitude) {
      if constexpr (floating<T>) return has_nan ? value(largest_) : static_cast<T>(most_);
      return most_;
    }
    if (what == operation::minmax) return extremes<T>{value(least_), value(largest_)};
    const indexed<N>& wanted = what == operation::max || what == operation::argmax ? largest_ : least_;
    if (row_of(what).form != result_form::indexed) return value(wanted);
    return indexed<T>{value(wanted), (has_nan ? nan_ : wanted.index) - first};
  }

 private:
  using magnitude = std::conditional_t<floating<T>, N, std::uint64_t>;
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  static constexpr N highest = floating<T> ? std::numeric_limits<N>::infinity() : std::numeric_limits<N>::max();
  static constexpr N lowest = floating<T> ? static_cast<N>(-highest) : std::numeric_limits<N>::min();

  /// Whether a is below b, where -0 is below +0, or if both are the same, whether the new one's `place` is before the
  /// place `found`.
  static bool comes_first(N a, N b, std::size_t place, std::size_t found) {
    if (a != b) return a < b;
    if constexpr (floating<T>) {
      if (a == 0 && std::signbit(a) != std::signbit(b)) return std::signbit(a);
    }
    return place < found;
  }

  std::uint64_t count_ = 0, nonzeros_ = 0;
  std::size_t nan_ = nowhere;  ///< the first one's place
  magnitude most_ = 0;
  indexed<N> least_{highest, nowhere}, largest_{lowest, nowhere};
};

/// The operations for which nothing rounds.
inline bool only_compares(operation what) { return row_of(what).unrounded; }

}  // namespace fanin::test
