// Proven error bounds of the fixed-order folds; the proofs are in docs/numerics.md.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include <fanin/result.hpp>

#include "backends/cpu/fold.hpp"

namespace fanin::cpu {

/// Half the distance from 1 to the next T: the relative error of one rounding.
template <class T>
inline constexpr double unit_roundoff = std::numeric_limits<T>::epsilon() / 2.0;

/// Larger than any rounding error that the few double operations of a bound can commit.
inline constexpr double round_up = 1 + 0x1p-48;

/// g(k) = k u / (1 - k u), rounded up; infinite from k u = 1 on. [Higham 2002, 3.1]
template <class T>
constexpr double growth(double k) {
  const double ku = k * unit_roundoff<T>;
  return ku < 1 ? ku / (1 - ku) * round_up : std::numeric_limits<double>::infinity();
}

/// The longest chain of rounded additions that an element passes through in the fixed order: down its lane, across
/// the lanes of the leaf, along the tree of leaves. Adding to the identity does not round.
template <class T>
struct chain {
  double lane;
  double levels;
  explicit chain(std::uint64_t count) {
    constexpr std::uint64_t row = row_bytes / sizeof(T);
    constexpr std::uint64_t leaf = leaf_bytes / sizeof(T);
    const std::uint64_t rows = ((count < leaf ? count : leaf) + row - 1) / row;
    const std::uint64_t leaves = (count + leaf - 1) / leaf;
    lane = rows > 0 ? static_cast<double>(rows - 1) : 0;
    levels = static_cast<double>(std::countr_zero(row) + (leaves > 1 ? std::bit_width(leaves - 1) : 0));
  }
  double length() const { return lane + levels; }
};

/// A mean is formed in double from the finished sum: one rounding to double for the sum's own finish, one for the
/// quotient, one to T, and an underflow of at most the smallest subnormal.
template <class T>
constexpr error_bound divided(error_bound sum) {
  constexpr double u = unit_roundoff<T>;
  constexpr double extra = u + 3 * unit_roundoff<double>;
  return {(sum.of_result * (1 + extra) + extra) * round_up, sum.of_magnitudes * (1 + extra) * round_up,
          sum.absolute + static_cast<double>(std::numeric_limits<T>::denorm_min())};
}

template <class T>
error_bound plain_bound(std::uint64_t count) {
  return {0, growth<T>(chain<T>(count).length()), 0};
}

/// Squaring rounds once more, and may lose at most half the smallest subnormal for each element to underflow.
template <class T>
error_bound plain_square_bound(std::uint64_t count) {
  const double eta = static_cast<double>(std::numeric_limits<T>::denorm_min());
  return {0, growth<T>(chain<T>(count).length() + 1), static_cast<double>(count) * eta};
}

/// (1 + u) g(chain) `errors`: what is lost by adding up rounding errors whose sizes total `errors` A.
template <class T>
constexpr double carried(double errors, double chain) {
  return (1 + unit_roundoff<T>)*errors * growth<T>(chain) * round_up;
}

/// u |S| + (1 + u) g(d) g(d') A: the rounding errors of the chain into `sum` are at most g(d) A together, and they
/// are added up along a chain of d' additions, two for each merge.
template <class T>
error_bound compensated_bound(std::uint64_t count) {
  const chain<T> c(count);
  return {unit_roundoff<T>, carried<T>(growth<T>(c.length()), c.lane + 1 + 2 * c.levels), 0};
}

template <class T>
error_bound compensated_square_bound(std::uint64_t count) {
  const chain<T> c(count);
  const double eta = static_cast<double>(std::numeric_limits<T>::denorm_min());
  return {unit_roundoff<T>, carried<T>(growth<T>(c.length() + 1), c.lane + 2 + 2 * c.levels),
          2 * static_cast<double>(count) * eta};
}

/// n factors, n - 1 rounded products.
template <class T>
error_bound product_bound(std::uint64_t count) {
  return {count > 1 ? growth<T>(static_cast<double>(count - 1)) : 0, 0, 0};
}

/// One correct rounding to T, which may be a subnormal. Half of the smallest double is none, so it is rounded up.
template <class T>
error_bound rounded_bound() {
  const double half = static_cast<double>(std::numeric_limits<T>::denorm_min()) / 2;
  return {unit_roundoff<T>, 0, std::max(half, std::numeric_limits<double>::denorm_min())};
}

}  // namespace fanin::cpu
