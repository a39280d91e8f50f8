// SPDX-License-Identifier: Apache-2.0
// The part of the sums in proven-inl.h that does not depend on the instruction set.
#pragma once

#include <hwy/base.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fanin/accumulator/fixed_point.hpp>

namespace fanin::cpu {

/// The terms that are summed: x y, x^2, or x and x^2.
enum class product_terms { products, squares, moments };

/// The sums that round are tried in depth 1 and 2.
constexpr int product_depths = 2, most_proven_totals = 9;

/// The number of sums of elements that round, if `products` sums of products round. Floats need one sum less.
template <class T>
constexpr int depth_of_elements(int products) {
  return sizeof(T) == 4 ? products - 1 : products;
}

/// The most elements that are proven at once: 32 KiB, which stay in the L1 cache for another attempt.
template <class T>
constexpr std::size_t proven_tile = (std::size_t{1} << 15) / sizeof(T);

/// The most elements that are proven at once by their exponents, which lie closer together the fewer there are.
template <class T>
constexpr std::size_t bounded_tile = sizeof(T) == 4 ? 2048 : 512;

/// For fewer elements the shallowest sums are not tried, because so few elements take hardly longer with deeper ones.
constexpr std::size_t shortest_shallow = 512;

/// Adds `value`, finite, to an exact sum whose unit is no larger than the last bit of `value`.
template <class Accumulator>
HWY_NOINLINE void add_double(double value, Accumulator& into) {
  if (value == 0) return;
  const auto [mantissa, exponent] = detail::unpack<double>(detail::to_bits(std::abs(value)));
  const auto magnitude = static_cast<detail::int128>(mantissa);
  into.add_scaled(value < 0 ? -magnitude : magnitude, exponent);
}

/// The order in which loops that may fail to add a tile are tried.
class attempt_order {
 public:
  /// Calls attempt(i) for i < count until it returns true. Returns whether it did. The fastest loop, 0, comes first,
  /// unless it has failed lately.
  template <class Attempt>
  bool add(int count, Attempt attempt) {
    const bool from_fastest = waiting_ == 0;
    int i = from_fastest ? 0 : last_;
    while (i < count && !attempt(i)) ++i;
    last_ = i;
    if (!from_fastest) {
      --waiting_;
    } else {
      pause_ = i == 0 ? 0 : std::clamp(2 * pause_, 1, most_waiting);
      waiting_ = pause_;
    }
    return i < count;
  }

 private:
  static constexpr int most_waiting = 8;
  int last_ = 0, pause_ = 0, waiting_ = 0;
};

}  // namespace fanin::cpu
