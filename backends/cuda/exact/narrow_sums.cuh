// SPDX-License-Identifier: Apache-2.0
// Sums of elements of 8 and 16 bits in a window, by float additions that do not round. They have so few bits that two
// sums hold 31 binades of f16, which is all of them, 34 of bf16, and all of numbers of 8 bits. docs/numerics.md has
// the proof.
#pragma once

#include <cmath>
#include <limits>

#include "backends/cuda/exact/lane_sums.cuh"
#include "backends/cuda/exact/term_windows.cuh"

namespace fanin::cuda {

template <class T>
inline constexpr int digits_of = std::numeric_limits<T>::digits;

/// Windows in which elements are whole numbers of units, and below 2^41 of them. The largest constant of a window is
/// 1.5 * 2^127.
template <class Terms, class T = typename Terms::element>
using unit_windows = term_windows<Terms, 42 - digits_of<T>, std::numeric_limits<T>::min_exponent - 1,
                                  std::min(std::numeric_limits<T>::max_exponent + 1, 123)>;

/// The windows of narrow_sums. f16 and numbers of 8 bits have one window, and all finite numbers are in it.
template <class Terms>
class narrow_windows : public unit_windows<Terms> {
 public:
  static constexpr bool hold_all = unit_windows<Terms>::holds_every_binade;
  __device__ bool holds(float x) const { return hold_all ? fabsf(x) < HUGE_VALF : unit_windows<Terms>::holds(x); }
};

/// The largest magnitude, or NaN if an element is NaN. Devices compare two pairs with one instruction. The sign of
/// its result means nothing.
template <class T, int N>
__device__ inline float largest_magnitude(const T (&x)[N]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 860
  if constexpr (sizeof(T) == 2) {
    unsigned pair[N / 2];
    memcpy(pair, x, sizeof pair);
#pragma unroll
    for (int i = 1; i < N / 2; ++i) {
      if constexpr (std::is_same_v<T, f16>) {
        asm("max.NaN.xorsign.abs.f16x2 %0, %0, %1;" : "+r"(pair[0]) : "r"(pair[i]));
      } else {
        asm("max.NaN.xorsign.abs.bf16x2 %0, %0, %1;" : "+r"(pair[0]) : "r"(pair[i]));
      }
    }
    const float low = T::of_bits(pair[0] & 0x7fff), high = T::of_bits(pair[0] >> 16 & 0x7fff);
    return low > high || low != low ? low : high;
  }
#endif
  float largest = 0;
  for (const T one : x) {
    const float size = fabsf(one);
    if (!(size <= largest) && largest == largest) largest = size;
  }
  return largest;
}

/// The sums of one lane for the elements in a window. They are a part of window_sums.
template <class Terms>
class narrow_sums : public narrow_windows<Terms> {
  static constexpr int width = cuda::vector<typename Terms::element>::size;
  static constexpr int digits = digits_of<typename Terms::element>, levels = 2, level_bits = 22;

 public:
  using windows = narrow_windows<Terms>;
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = 1, warp_values = levels;
  static constexpr int most_elements = 1 << 20;  ///< each adds at most 2^21 units of a level
  struct tile_sums {
    unsigned bits[levels] = {};
    int elements = 0;
  };

  /// Adds the elements, or if one of them is outside of the window, nothing, and returns false.
  __device__ bool try_add(const vector& v, tile_sums& tile) const {
    unsigned bits[levels] = {};
    bool outside = !(largest_magnitude(v.x.at) < limit_);
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const float x = v.at(i), high = x + magic_[0], rest = x - (high - magic_[0]), low = rest + magic_[1];
      bits[0] += detail::to_bits(high);
      bits[1] += detail::to_bits(low);
      if constexpr (!windows::hold_all) outside |= low - magic_[1] != rest;
    }
    if (outside) return false;
#pragma unroll
    for (int level = 0; level < levels; ++level) tile.bits[level] += bits[level];
    tile.elements += width;
    return true;
  }
  __device__ void finish_tile(const tile_sums& tile) {
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      const unsigned constants = static_cast<unsigned>(tile.elements) * detail::to_bits(magic_[level]);
      sum_[level] += static_cast<int>(tile.bits[level] - constants);
    }
  }

  __device__ void choose(const unsigned (&largest)[1]) {
    windows::choose(largest);
    limit_ = power(this->lowest() + 42 - digits);
#pragma unroll
    for (int level = 0; level < levels; ++level) magic_[level] = 1.5f * power(unit(level) + 23);
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block, int, int) {
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      block.add_warp(sum_[level], unit(level) - detail::float_format<float>::low);
      sum_[level] = 0;
    }
  }

 private:
  /// The exponent of a level's unit. Elements are whole numbers of the last level's.
  __device__ int unit(int level) const { return this->lowest() - (digits - 1) + (levels - 1 - level) * level_bits; }
  /// 2^exponent, a normal number.
  __device__ static float power(int exponent) {
    return detail::from_bits<float>(static_cast<unsigned>(exponent + 127) << 23);
  }

  /// A sum with a level's rounds to a multiple of its unit, and the lower bits of this sum are this multiple's.
  float magic_[levels] = {};
  float limit_ = 0;  ///< 2^41 units
  std::int64_t sum_[levels] = {};
};

}  // namespace fanin::cuda
