// SPDX-License-Identifier: Apache-2.0
// Sums of squares of floats in a window, and of the floats beside them, by additions of doubles, for devices with
// many units for doubles. A chain of squares is added to 1.5 * 2^k by fused multiply-adds. What each addition loses
// is a double too, and is added to a chain of its own. The window has so few binades that no addition to these chains
// rounds. The lower bits of a chain are an integer, as in batch/term_sums.cuh. docs/numerics.md has the proof.
#pragma once

#include <cmath>

#include "backends/cuda/exact/shared_sums.cuh"
#include "backends/cuda/exact/term_windows.cuh"

namespace fanin::cuda {

/// Terms whose squares are added as doubles.
template <class Terms>
struct by_doubles : Terms {};
template <class T>
inline constexpr bool are_moments<by_doubles<moments<T>>> = true;
template <class Terms>
inline constexpr bool are_by_doubles = false;
template <class Terms>
inline constexpr bool are_by_doubles<by_doubles<Terms>> = true;

template <class Terms>
using double_windows =
    term_windows<Terms, 25, exponent_window<float>::least_exponent, detail::float_format<float>::high>;

/// The sums of one thread for the squares in a window. They are a part of window_sums.
template <class Terms>
class double_squares : public double_windows<Terms> {
  static_assert(std::is_same_v<typename Terms::number, float> && Terms::factors == 1);
  static constexpr bool has_sum = are_moments<Terms>;
  static constexpr int width = cuda::vector<float>::size, chains = 2;
  /// A unit of the squares is so many binades above a unit of what their additions lose.
  static constexpr int part_bits = 49;
  static constexpr int mantissa_bits = detail::float_format<float>::digits - 1;

 public:
  using windows = double_windows<Terms>;
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = 4, warp_values = has_sum ? 3 : 2;
  /// The most elements between two flushes. A chain has 8 of them, and is at most 2^51 units.
  static constexpr int most_elements = 1 << 14;

  __device__ void add(const vector (&v)[vectors_at_once]) {
    const int unit = this->lowest() - mantissa_bits;
    const double of_square = constant(2 * unit + part_bits), of_rest = constant(2 * unit), of_number = constant(unit);
    double square[chains], rest[chains], number[chains];
#pragma unroll
    for (int c = 0; c < chains; ++c) square[c] = of_square, rest[c] = of_rest, number[c] = of_number;
#pragma unroll
    for (const vector& some : v) {
#pragma unroll
      for (int i = 0; i < width; ++i) {
        const double x = some.at(i).x, before = square[i % chains];
        square[i % chains] = std::fma(x, x, before);
        rest[i % chains] += std::fma(x, x, before - square[i % chains]);
        if constexpr (has_sum) number[i % chains] += x;
      }
    }
#pragma unroll
    for (int c = 0; c < chains; ++c) {
      squares_ += units(square[c], of_square);
      rests_ += units(rest[c], of_rest);
      if constexpr (has_sum) numbers_ += units(number[c], of_number);
    }
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block) {
    const int position = this->lowest() - exponent_window<float>::least_exponent;
    block.products().add_warp(squares_, 2 * position + part_bits);
    block.products().add_warp(rests_, 2 * position);
    if constexpr (has_sum) block.sum().add_warp(numbers_, position);
    squares_ = rests_ = numbers_ = 0;
  }

 private:
  /// 1.5 * 2^52 units of 2^unit.
  __device__ static double constant(int unit) {
    return detail::from_bits<double>(static_cast<std::uint64_t>(2 * (unit + 52 + 1023) + 1) << 51);
  }
  __device__ static std::int64_t units(double sum, double of_nothing) {
    return static_cast<std::int64_t>(detail::to_bits(sum) - detail::to_bits(of_nothing));
  }

  std::int64_t squares_ = 0, rests_ = 0, numbers_ = 0;
};

}  // namespace fanin::cuda
