// The SIMD leaves, dispatched at run time to the best instruction set of this machine.
// All of them need round to nearest and no flushing of subnormals (environment.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <fanin/accumulator/compensated.hpp>
#include <fanin/accumulator/product.hpp>
#include <fanin/accumulator/sum.hpp>

namespace fanin::cpu {

/// The accumulators of float and double for which fold_lanes() and collapse_lanes() are defined.
template <class A>
inline constexpr bool has_lane_leaf = false;
template <std::floating_point T>
inline constexpr bool has_lane_leaf<accumulator::plain_sum<T>> = true;
template <std::floating_point T>
inline constexpr bool has_lane_leaf<accumulator::plain_square_sum<T>> = true;
template <std::floating_point T>
inline constexpr bool has_lane_leaf<accumulator::plain_product<T>> = true;
template <std::floating_point T>
inline constexpr bool has_lane_leaf<accumulator::compensated_sum<T>> = true;
template <std::floating_point T>
inline constexpr bool has_lane_leaf<accumulator::compensated_square_sum<T>> = true;

/// Folds any number of elements in the fixed order (fanin/loop.hpp) into the lanes of a row: row_bytes / sizeof(T)
/// numbers; for compensated accumulators this many sums, then this many errors.
template <class Accumulator>
void fold_lanes(const typename Accumulator::element* x, std::size_t count, typename Accumulator::element* state);
/// Merges the lanes of a row, lane j with lane j + size / 2 and so on, into one accumulator's state.
template <class Accumulator>
void collapse_lanes(const typename Accumulator::element* state, typename Accumulator::element* out);

/// The sums of the low and of the high 32 bits of `count` < 2^32 words of 64 bits, each word XORed with `flip` first.
struct half_sums {
  std::uint64_t low;
  std::uint64_t high;
};
half_sums sum_halves(const void* words, std::size_t count, std::uint64_t flip);

/// Smallest or largest of count > 0 elements; NaN if an element is NaN; -0 is below +0. Defined for
/// element types of 32 and 64 bits.
template <class T>
T smallest_leaf(const T* x, std::size_t count);
template <class T>
T largest_leaf(const T* x, std::size_t count);

}  // namespace fanin::cpu
