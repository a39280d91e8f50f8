// SPDX-License-Identifier: Apache-2.0
// Sums of elements in a window, by integer arithmetic: an element is its mantissa times a signed power of two, which
// one multiply-add of 32 by 32 bits adds to 64 bits. docs/numerics.md has the proof.
#pragma once

#include <algorithm>

#include "backends/cuda/exact/mantissa.cuh"
#include "backends/cuda/exact/shared_sums.cuh"
#include "backends/cuda/exact/term_windows.cuh"

namespace fanin::cuda {

/// Floats are added whole, doubles in parts of 26 and 27 bits. Each sum takes most_elements numbers of
/// 23 + binades, or 26 + binades, bits.
template <class T>
struct integer_parts;
template <>
struct integer_parts<float> {
  static constexpr int parts = 1, binades = 30, most_elements = 1024;
};
template <>
struct integer_parts<double> {
  static constexpr int parts = 2, binades = 28, most_elements = 512;
};

/// The windows of integer_sums. The place of 0 is 32 binades or more, so that its power of two is shifted out.
template <class Terms, class T = typename Terms::number>
using integer_windows = term_windows<Terms, integer_parts<T>::binades, exponent_window<T>::least_exponent,
                                     std::min(detail::float_format<T>::high + 1 - 32 + integer_parts<T>::binades,
                                              detail::float_format<T>::high)>;

/// The sums of one thread for the elements in a window, or for each part of complex ones. They are a part of
/// window_sums.
template <class Terms>
class integer_sums : public integer_windows<Terms> {
  using T = typename Terms::number;
  static constexpr int parts = integer_parts<T>::parts, low_bits = 26;
  static constexpr int width = cuda::vector<typename Terms::element>::size, chains = width < 4 ? width : 4;

 public:
  using windows = integer_windows<Terms>;
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = 1, warp_values = parts;
  static constexpr int most_elements = integer_parts<T>::most_elements;  ///< between two flushes

  __device__ void add(const vector (&v)[1]) {
#pragma unroll
    for (int i = 0; i < width; ++i) {
#pragma unroll
      for (int f = 0; f < Terms::factors; ++f) add(part(v[0].at(i), f), f, sum_[f][i % chains]);
    }
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block) {
#pragma unroll
    for (int f = 0; f < Terms::factors; ++f) {
#pragma unroll
      for (int part = 0; part < parts; ++part) {
        std::int64_t sum = 0;
#pragma unroll
        for (auto& one : sum_[f]) sum += one[part], one[part] = 0;
        block.sum_of(f).add_warp(sum, this->lowest(f) - exponent_window<T>::least_exponent + part * low_bits);
      }
    }
  }

 private:
  __device__ void add(T x, int factor, std::int64_t (&sum)[parts]) {
    const unsigned high = exponent_window<T>::high_word(x), place = this->place(x, factor);
    const unsigned sign = static_cast<unsigned>(static_cast<int>(high) >> 31 | 1);
    const unsigned power = __funnelshift_lc(0u, sign, exponent_window<T>::binade(place));
    if constexpr (parts == 1) {
      sum[0] += signed_product(with_bit_23(high), power);
    } else {
      const auto low = static_cast<unsigned>(detail::to_bits(x));
      sum[0] += signed_product(low & ((1u << low_bits) - 1), power);
      sum[1] += signed_product(with_bit_26(__funnelshift_r(low, high, low_bits)), power);
    }
  }

  /// Sums of elements, or of each part of them, in units of the lowest binade, or of 2^low_bits such units. There are
  /// several, so that the additions of a vector do not wait for each other.
  std::int64_t sum_[Terms::factors][chains][parts] = {};
};

}  // namespace fanin::cuda
