// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 and 16 bits in registers, and the question whether they are in a window.
#pragma once

#include "backends/cuda/numbers.hpp"

namespace fanin::cuda {

/// Numbers of 8 bits as f16: the sign, and the other bits shifted to those of f16. A number T is then divided by
/// 2^exponents_of_half<T>, and its magnitude is below end_of_halves<T> if it is finite.
template <narrow_float T>
inline constexpr int exponents_of_half = f16::bias - T::bias;
template <narrow_float T>
inline constexpr unsigned shift_to_half = std::numeric_limits<T>::digits - std::numeric_limits<e5m2>::digits;
template <narrow_float T>
inline constexpr std::uint32_t end_of_halves = std::uint32_t{T::after_largest} << 8 >> shift_to_half<T>;

/// Eight numbers, of which each register has two of 16 bits. Those of 8 bits are f16 here.
struct eight_numbers {
  std::uint32_t pair[4];
};

/// Half-words that a register has two of.
inline constexpr std::uint32_t both_halves = 0x10001, magnitudes_of_pair = 0x7fff7fff, signs_of_pair = 0x80008000;

/// The numbers in a window have magnitudes, as words, of at least `low` and less than `high`. 0 is in each window
/// that is not empty.
struct narrow_limits {
  std::uint32_t low = 1, high = 0;
  __device__ bool hold(std::uint32_t magnitude) const {
    return magnitude < high && (magnitude == 0 || magnitude >= low);
  }
};

/// The largest magnitude of a half, and the smallest one that is not 0.
class narrow_range {
 public:
  __device__ void add(const eight_numbers& v) {
#pragma unroll
    for (const std::uint32_t pair : v.pair) {
      const std::uint32_t size = pair & magnitudes_of_pair;
      largest_ = extreme_words<std::uint16_t, true>(largest_, size);
      // A magnitude less 1, so that 0 is the largest.
      least_ = extreme_words<std::uint16_t, false>(least_, (size + magnitudes_of_pair) ^ signs_of_pair);
    }
  }
  __device__ std::uint32_t largest() const { return ::max(largest_ & 0xffff, largest_ >> 16); }
  /// Whether a window holds all magnitudes.
  __device__ bool is_in(const narrow_limits& limits) const {
    return largest() < limits.high && ::min(least_ & 0xffff, least_ >> 16) + 1 >= limits.low;
  }

 private:
  std::uint32_t largest_ = 0, least_ = ~0u;
};

/// Makes numbers of 16 bits of the words of a vector, in an order of their own.
template <class Word>
class narrow_reader {
 public:
  static constexpr int eights = 16 / sizeof(Word) / 8;  ///< of a vector
  __device__ explicit narrow_reader(const element_rule& rule) {
    if constexpr (sizeof(Word) == 1) {
      with_format<Word>(rule, [&]<class T>(T) {
        shift_ = shift_to_half<T>;
        magnitude_ = (0x7f00u >> shift_to_half<T>)*both_halves;
      });
    }
  }

  /// Stores the numbers in to[0].of[factor], ..., to[eights - 1].of[factor].
  template <class Eight>
  __device__ void read(const uint4& v, Eight* to, int factor) const {
    const std::uint32_t words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (sizeof(Word) == 2) {
        to->of[factor].pair[i] = words[i];
      } else {
        to[0].of[factor].pair[i] = widened(words[i]);
        to[1].of[factor].pair[i] = widened(words[i] << 8);
      }
    }
  }

 private:
  /// The numbers in the upper bytes of both halves.
  __device__ std::uint32_t widened(std::uint32_t pair) const {
    return (pair & signs_of_pair) | (pair >> shift_ & magnitude_);
  }
  unsigned shift_;
  std::uint32_t magnitude_;
};

}  // namespace fanin::cuda
