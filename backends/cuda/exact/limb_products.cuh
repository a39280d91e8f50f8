// SPDX-License-Identifier: Apache-2.0
// Sums of products in a window, by integer arithmetic. The products are squares, or products of two arrays of real
// or complex numbers, or squares beside elements. An element in the window is a whole number of units, which is cut
// into limbs of 26 bits. One multiply-add of 32 by 32 bits adds the product of two limbs to 64 bits. docs/numerics.md
// has the proofs.
#pragma once

#include <algorithm>

#include "backends/cuda/exact/mantissa.cuh"
#include "backends/cuda/exact/shared_sums.cuh"
#include "backends/cuda/exact/term_windows.cuh"

namespace fanin::cuda {

inline constexpr int limb_bits = 26;
__device__ inline unsigned low_limb(std::int64_t x) { return static_cast<unsigned>(x) & ((1u << limb_bits) - 1); }
__device__ inline int above_low_limb(std::int64_t x) { return static_cast<int>(x >> limb_bits); }

/// The mantissa of a number times a signed power of two, below 2^binades in magnitude, in limbs: the last one has the
/// sign, and the others are not negative.
template <class T>
struct limbs;
template <>
struct limbs<float> {
  static constexpr int count = 2, binades = 29, parts = 1;
  unsigned at[count];
  std::int64_t part[parts];  ///< the number as a sum of parts, in units of 1

  __device__ limbs(float x, unsigned power) {
    part[0] = signed_product(with_bit_23(detail::to_bits(x)), power);
    at[0] = low_limb(part[0]);
    at[1] = static_cast<unsigned>(above_low_limb(part[0]));
  }
};
template <>
struct limbs<double> {
  static constexpr int count = 3, binades = 25, parts = 2;
  unsigned at[count];
  std::int64_t part[parts];  ///< the number as a sum of parts, in units of 1 and 2^limb_bits

  __device__ limbs(double x, unsigned power) {
    const auto low = static_cast<unsigned>(detail::to_bits(x)), high = exponent_window<double>::high_word(x);
    part[0] = signed_product(low & ((1u << limb_bits) - 1), power);
    part[1] = signed_product(with_bit_26(__funnelshift_r(low, high, limb_bits)), power);
    const std::int64_t upper = part[1] + above_low_limb(part[0]);
    at[0] = low_limb(part[0]);
    at[1] = low_limb(upper);
    at[2] = static_cast<unsigned>(above_low_limb(upper));
  }
};

/// The windows of limb_products. The place of 0 is 32 binades or more, so that its power of two is shifted out.
template <class Terms, class T = typename Terms::number>
using limb_windows =
    term_windows<Terms, limbs<T>::binades, exponent_window<T>::least_exponent,
                 std::min(detail::float_format<T>::high + 1 - 32 + limbs<T>::binades, detail::float_format<T>::high)>;

/// The sums of one thread for the products in a window. They are a part of window_sums.
template <class Terms>
class limb_products : public limb_windows<Terms> {
  using T = typename Terms::number;
  using number = limbs<T>;
  static constexpr bool has_sum = are_moments<Terms>, are_squares = Terms::factors == 1;
  static constexpr int sums = complex_number<typename Terms::element> ? 2 : 1;
  static constexpr int width = cuda::vector<typename Terms::element>::size;
  static constexpr int products = are_squares ? number::count * (number::count + 1) / 2 : 2 * number::count - 1;
  static constexpr int parts = has_sum ? number::parts : 0;

 public:
  using windows = limb_windows<Terms>;
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = sums == 1 || width == 1 ? 2 : 1, warp_values = products + parts;
  /// The most elements between two flushes. A product of limbs is at most 2^52. An element adds up to two such
  /// products, or to squares one. A complex element adds two products of numbers to each sum.
  static constexpr int most_elements = are_squares ? 2016 : 992 / sums;

  __device__ void add(const vector (&v)[vectors_at_once]) {
#pragma unroll
    for (const vector& one : v) {
#pragma unroll
      for (int i = 0; i < width; ++i) add(one.at(i));
    }
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block) {
    const int unit = this->lowest(0) + this->lowest(1) - 2 * exponent_window<T>::least_exponent;
    if constexpr (are_squares) {
      for_each_square([&](int product, int k, int j) {
        block.products().add_warp(product_[0][product], unit + limb_bits * (k + j) + (k < j ? 1 : 0));
      });
    } else {
#pragma unroll
      for (int s = 0; s < sums; ++s) {
#pragma unroll
        for (int k = 0; k < products; ++k) block.products(s).add_warp(product_[s][k], unit + limb_bits * k);
      }
    }
#pragma unroll
    for (auto& one : product_) {
#pragma unroll
      for (std::int64_t& sum : one) sum = 0;
    }
    if constexpr (has_sum) {
#pragma unroll
      for (int k = 0; k < parts; ++k) {
        block.sum().add_warp(part_[k], this->lowest() - exponent_window<T>::least_exponent + limb_bits * k);
        part_[k] = 0;
      }
    }
  }

 private:
  /// Calls f(product, k, j) for the products of limbs k and j, which occur twice if k < j.
  template <class F>
  __device__ static void for_each_square(F f) {
    int product = 0;
#pragma unroll
    for (int k = 0; k < number::count; ++k) {
#pragma unroll
      for (int j = k; j < number::count; ++j) f(product++, k, j);
    }
  }
  __device__ void add(const product<T>& p) {
    const unsigned sign = exponent_window<T>::high_word(p.x);
    if constexpr (are_squares) {
      const number a(p.x, power_of(p.x, 0, has_sum ? sign : 0));
      for_each_square([&](int product, int k, int j) { product_[0][product] += signed_product(a.at[k], a.at[j]); });
#pragma unroll
      for (int k = 0; k < parts; ++k) part_[k] += a.part[k];
    } else {
      const number a(p.x, power_of(p.x, 0, sign ^ exponent_window<T>::high_word(p.y))), b(p.y, power_of(p.y, 1, 0));
      add_limbs(a.at, b.at, product_[0]);
    }
  }
  __device__ void add(const product<std::complex<T>>& p) {
    const number a = signed_limbs(p.x.real(), 0), b = signed_limbs(p.x.imag(), 0), c = signed_limbs(p.y.real(), 1),
                 d = signed_limbs(p.y.imag(), 1);
    unsigned minus_b[number::count];
#pragma unroll
    for (int k = 0; k < number::count; ++k) minus_b[k] = 0 - b.at[k];
    add_limbs(a.at, c.at, product_[0]);
    add_limbs(minus_b, d.at, product_[0]);
    add_limbs(a.at, d.at, product_[1]);
    add_limbs(b.at, c.at, product_[1]);
  }
  __device__ static void add_limbs(const unsigned (&a)[number::count], const unsigned (&b)[number::count],
                                   std::int64_t (&sum)[products]) {
#pragma unroll
    for (int k = 0; k < number::count; ++k) {
#pragma unroll
      for (int j = 0; j < number::count; ++j) sum[k + j] += signed_product(a[k], b[j]);
    }
  }
  __device__ number signed_limbs(T x, int factor) const {
    return {x, power_of(x, factor, exponent_window<T>::high_word(x))};
  }
  /// 2 to the binade of x in the window of a factor, with the sign of this word; 0 for 0.
  __device__ unsigned power_of(T x, int factor, unsigned sign) const {
    const unsigned one = static_cast<unsigned>(static_cast<int>(sign) >> 31 | 1);
    return __funnelshift_lc(0u, one, exponent_window<T>::binade(this->place(x, factor)));
  }

  std::int64_t product_[sums][products] = {};
  std::int64_t part_[parts > 0 ? parts : 1] = {};
};

}  // namespace fanin::cuda
