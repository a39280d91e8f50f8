// SPDX-License-Identifier: Apache-2.0
// A number cut into the digits that a thread adds to the block's words (shared_sums.cuh). docs/numerics.md has the
// proof.
#pragma once

#include <cstdint>

#include <fanin/accumulator/fixed_point.hpp>
#include <fanin/cuda/vectors.cuh>

#include "backends/cuda/exact/mantissa.cuh"

namespace fanin::cuda {

/// Word n has the weight 2^(low - low_bits + word_bits * n), 2^low the smallest subnormal number. `rank` grows with
/// |x|; a number whose rank is_rare() has to be repaired, or if that returns false, as for infinities and NaN,
/// cleared, before add_to() adds it to the words that are Stride apart.
template <class T, int WordBits>
struct number_digits;

/// The exponent 8 k + j, j < 8, is split: x = v * 2^(8 k - 127), and v, a multiple of 2^-23 below 2^8, goes to the
/// words k and k + 2 by float additions that do not round.
template <>
struct number_digits<float, 8> {
  static constexpr int word_bits = 8, low_bits = 1;
  unsigned rank;

  number_digits() = default;
  __device__ explicit number_digits(std::uint32_t x)
      : rank(2 * x), bits_(x), v_(detail::from_bits<float>(x) * detail::from_bits<float>(inverse_step(x))) {}
  __device__ static bool is_rare(unsigned rank) { return rank >= 255u << 24; }
  __device__ static bool repair() { return false; }
  __device__ void clear() { v_ = 0; }

  template <int Stride>
  __device__ void add_to(int* words) const {
    constexpr float upper = 0x1.8p16f, lower = 0x1.8p0f;  // Their last digits are 2^-7 and 2^-23.
    const float t = v_ + upper;
    const float rest = v_ - (t - upper);
    constexpr unsigned bytes = Stride * sizeof(int);
    const unsigned offset = bits_ / ((1u << 26) / bytes) & 31 * bytes;  // k words, by two instructions
    int* const word = reinterpret_cast<int*>(reinterpret_cast<char*>(words) + offset);
    atomicAdd(word, digits(rest + lower, lower));
    atomicAdd(word + 2 * Stride, digits(t, upper));
  }

 private:
  __device__ static int digits(float sum, float constant) {
    return static_cast<int>(detail::to_bits(sum) - detail::to_bits(constant));
  }
  unsigned bits_;
  float v_;
};

/// The mantissa's 53 bits, shifted by less than WordBits, are cut into digits of 16 bits: four for 8, five for 16.
template <int WordBits>
struct number_digits<double, WordBits> {
  static constexpr int word_bits = WordBits, low_bits = 0;
  unsigned rank;

  number_digits() = default;
  __device__ explicit number_digits(std::uint64_t x)
      : rank(2 * high_word(x) - one),
        sign_(static_cast<int>(high_word(x))),
        high_((high_word(x) & 0xfffffu) | 0x100000u),
        low_(static_cast<unsigned>(x)) {}
  __device__ static bool is_rare(unsigned rank) { return rank >= 0u - 2 * one; }
  /// Subnormal numbers have no implicit one, and the exponent of 1.
  __device__ bool repair() {
    if (rank < 0u - one) return false;
    rank += one;
    high_ = rank / 2;
    return true;
  }
  __device__ void clear() { rank = high_ = low_ = 0; }

  template <int Stride>
  __device__ void add_to(int* words) const {
    constexpr unsigned bytes = Stride * sizeof(int), positions = 2048;
    const unsigned offset = rank / (WordBits * one / bytes) & (positions / WordBits - 1) * bytes;
    int* const word = reinterpret_cast<int*>(reinterpret_cast<char*>(words) + offset);
    const unsigned shift = rank / one % WordBits;
    const unsigned parts[] = {low_ << shift, __funnelshift_l(low_, high_, shift), __funnelshift_l(high_, 0u, shift)};
    const int sign = sign_ >> 31 | 1;
    constexpr int digits = (53 + WordBits - 1 + 15) / 16;
#pragma unroll
    for (int i = 0; i < digits; ++i) {
      const unsigned digit = i % 2 == 0 ? parts[i / 2] & 0xffffu : parts[i / 2] >> 16;
      atomicAdd(word + 16 / WordBits * Stride * i, static_cast<int>(digit) * sign);
    }
  }

 private:
  static constexpr unsigned one = 1u << 21;  ///< the last bit of an exponent in `rank`
  __device__ static unsigned high_word(std::uint64_t x) { return static_cast<unsigned>(x >> 32); }
  int sign_;             ///< the sign is its upper bit
  unsigned high_, low_;  ///< the mantissa
};

}  // namespace fanin::cuda
