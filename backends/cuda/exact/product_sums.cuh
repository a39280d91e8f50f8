// SPDX-License-Identifier: Apache-2.0
// Sums of products in a window: of squares, of the products of two arrays, and of elements and their squares.
// docs/numerics.md has the proofs.
#pragma once

#include "backends/cuda/exact/lane_sums.cuh"
#include "backends/cuda/exact/term_windows.cuh"

namespace fanin::cuda {

/// 1.5 * 2^(exponent + 52): a double sum with it rounds to a multiple of 2^exponent, and the bits of this sum are
/// those of the constant plus this multiple.
__device__ inline double magic(int exponent) { return __hiloint2double((exponent + 52 + 1023) << 20 | 0x80000, 0); }

/// Integers that were added as the bits of doubles near magic(exponent).
struct magic_sum {
  std::uint64_t bits = 0;

  __device__ void add(double t) { bits += static_cast<std::uint64_t>(__double_as_longlong(t)); }
  /// Adds the integers, times 2^(exponent + doublings), to a block's chunks, and clears them. `additions` were made.
  template <class T, int Warps, int Power, int WordBits>
  __device__ void flush(lane_sums<T, Warps, Power, WordBits>& to, unsigned additions, int exponent,
                        int doublings = 0) {
    const std::uint64_t constants = additions * static_cast<std::uint64_t>(__double_as_longlong(magic(exponent)));
    to.add_warp(static_cast<std::int64_t>(bits - constants), exponent + doublings - chunk_sums<T, Power>::low);
    bits = 0;
  }
};

/// What a lane adds of the products in a window: a part of window_sums.
template <class Terms, class T = typename Terms::number>
class product_sums;

/// Products of floats. Two fused multiply-adds cut a product into a whole number of units of 2^high_unit(), which is
/// added as an integer, and a remainder. Remainders are summed over a batch without rounding.
template <class Terms>
class product_sums<Terms, float> : public term_windows<Terms, 23, -126, 128> {
 public:
  using windows = term_windows<Terms, 23, -126, 128>;

 private:
  using windows::lowest;
  using windows::width;
  static constexpr bool has_sum = are_moments<Terms>;
  static constexpr int digits = 23;  ///< of an element's mantissa behind the first

 public:
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = 1, warp_values = has_sum ? 3 : 2;
  static constexpr int most_elements = 4032;  ///< each adds at most 2^51 integers
  struct batch_sums {
    double remainder = 0, element = 0;
  };

  __device__ void add(const vector (&v)[1], batch_sums& batch) {
    const double m = magic(high_unit());
#pragma unroll
    for (int i = 0; i < width; ++i) {
      const product<float> term = v[0].at(i);
      const double x = term.x, y = term.y, t = __fma_rn(x, y, m);
      high_.add(t);
      batch.remainder += __fma_rn(x, y, m - t);
      if constexpr (has_sum) batch.element += x;
    }
  }
  __device__ void finish_batch(const batch_sums& batch) {
    low_.add(magic(low_unit()) + batch.remainder);
    if constexpr (has_sum) elements_.add(magic(element_unit()) + batch.element);
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block, int batches, int batch_elements) {
    high_.flush(block.products(), static_cast<unsigned>(batches * batch_elements), high_unit());
    low_.flush(block.products(), static_cast<unsigned>(batches), low_unit());
    if constexpr (has_sum) elements_.flush(block.sum, static_cast<unsigned>(batches), element_unit());
  }

 private:
  /// The exponents of units: elements and products are multiples of the first two.
  __device__ int element_unit() const { return lowest(0) - digits; }
  __device__ int low_unit() const { return lowest(0) + lowest(1) - 2 * digits; }
  __device__ int high_unit() const { return low_unit() + 41; }

  magic_sum high_, low_, elements_;
};

/// Squares of doubles. An element is cut into parts of 26 bits, so that the products of two parts are whole numbers
/// of units, small enough for a double: a fused multiply-add puts them into the low bits of a constant.
template <class Terms>
class product_sums<Terms, double> : public term_windows<Terms, 25, -485, 510> {
 public:
  using windows = term_windows<Terms, 25, -485, 510>;

 private:
  using windows::width;
  static constexpr bool has_sum = are_moments<Terms>;
  static constexpr int parts = 3, part_bits = 26, products = parts * (parts + 1) / 2;
  static_assert(width % 2 == 0);

 public:
  using vector = typename Terms::vector;
  static constexpr int vectors_at_once = 2;  ///< the fastest on an H200
  static constexpr int warp_values = products + (has_sum ? parts : 0);
  static constexpr int most_elements = 8160;  ///< each product of an element is at most 2^50 units
  /// The sums of each part over a batch: at most 32 parts have sums that do not round.
  struct batch_sums {
    double part[parts] = {};
  };

  __device__ void add(const vector (&v)[vectors_at_once], batch_sums& batch) {
#pragma unroll
    for (const vector& one : v) {
#pragma unroll
      for (int i = 0; i < width; i += 2) add_pair(one.at(i).x, one.at(i + 1).x, batch);
    }
  }
  __device__ void finish_batch(const batch_sums& batch) {
    if constexpr (has_sum) {
#pragma unroll
      for (int i = 0; i < parts; ++i) part_sums_[i].add(magic(unit(i)) + batch.part[i]);
    }
  }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block, int batches, int batch_elements) {
    const auto pairs = static_cast<unsigned>(batches * batch_elements / 2);
    for_each_product([&](int product, int i, int j) {
      products_[product].flush(block.products(), pairs, unit(i) + unit(j), i == j ? 0 : 1);
    });
    if constexpr (has_sum) {
#pragma unroll
      for (int i = 0; i < parts; ++i) part_sums_[i].flush(block.sum, static_cast<unsigned>(batches), unit(i));
    }
  }

 private:
  /// Calls f(product, i, j) for the products of a part i and a part j, which occur twice if i < j.
  template <class F>
  __device__ static void for_each_product(F f) {
    int product = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
#pragma unroll
      for (int j = i; j < parts; ++j) f(product++, i, j);
    }
  }
  /// The exponent of the unit of part i. The first part is at most 2^25 units.
  __device__ int unit(int i) const { return this->lowest() - part_bits * i; }

  /// Adds the squares of two elements in the window, and their parts.
  __device__ void add_pair(double x, double y, batch_sums& batch) {
    double x_part[parts], y_part[parts];
    cut(x, x_part);
    cut(y, y_part);
    for_each_product([&](int product, int i, int j) {
      const double m = magic(unit(i) + unit(j));
      products_[product].add(__fma_rn(x_part[i], x_part[j], __fma_rn(y_part[i], y_part[j], m)));
    });
    if constexpr (has_sum) {
#pragma unroll
      for (int i = 0; i < parts; ++i) batch.part[i] += x_part[i] + y_part[i];
    }
  }
  /// x as a sum of whole units of each part.
  __device__ void cut(double x, double (&part)[parts]) const {
#pragma unroll
    for (int i = 0; i + 1 < parts; ++i) {
      const double m = magic(unit(i));
      part[i] = (m + x) - m;
      x -= part[i];
    }
    part[parts - 1] = x;
  }

  magic_sum products_[products], part_sums_[parts];
};

/// Products of two arrays' doubles. A product is its rounded value and the rounding error, and both are cut into
/// whole numbers of two units, which are added as integers, and remainders, whose sum over a batch does not round.
template <bool Aligned, bool Paired>
class product_sums<products<double, Aligned, Paired>, double>
    : public term_windows<products<double, Aligned, Paired>, 21, -485, 511> {
 public:
  using windows = term_windows<products<double, Aligned, Paired>, 21, -485, 511>;
  using vector = typename products<double, Aligned, Paired>::vector;
  static constexpr int vectors_at_once = 2, warp_values = 3;
  static constexpr int most_elements = 4032;  ///< each adds at most 2^51 integers
  struct batch_sums {
    double remainder = 0;  ///< of at most 32 elements
  };

  __device__ void add(const vector (&v)[vectors_at_once], batch_sums& batch) {
#pragma unroll
    for (const vector& one : v) {
#pragma unroll
      for (int i = 0; i < windows::width; ++i) {
        const double x = one.x.at[i], y = one.y.at[i], rounded = x * y;
        const double rest = cut(high_, high_unit(), rounded), error = __fma_rn(x, y, -rounded);
        batch.remainder += cut(middle_, middle_unit(), rest) + cut(middle_, middle_unit(), error);
      }
    }
  }
  __device__ void finish_batch(const batch_sums& batch) { low_.add(magic(low_unit()) + batch.remainder); }

  /// Adds the sums to the block's, and clears them.
  template <class Block>
  __device__ void flush(Block& block, int batches, int batch_elements) {
    const auto elements = static_cast<unsigned>(batches * batch_elements);
    high_.flush(block, elements, high_unit());
    middle_.flush(block, 2 * elements, middle_unit());
    low_.flush(block, static_cast<unsigned>(batches), low_unit());
  }

 private:
  /// The exponents of units. A product is a multiple of the lowest, and less than 2^146 of these.
  __device__ int low_unit() const { return this->lowest(0) + this->lowest(1) - 2 * 52; }
  __device__ int middle_unit() const { return low_unit() + 45; }
  __device__ int high_unit() const { return low_unit() + 95; }

  /// Adds x as a whole number of units, and returns what is left.
  __device__ static double cut(magic_sum& sum, int unit, double x) {
    const double t = magic(unit) + x;
    sum.add(t);
    return x + (magic(unit) - t);
  }

  magic_sum high_, middle_, low_;
};

}  // namespace fanin::cuda
