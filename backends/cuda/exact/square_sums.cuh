// SPDX-License-Identifier: Apache-2.0
// The part of an exact sum of squares that a warp adds, or of both sums of a variance. An element is cut into parts
// of 26 bits, so that the products of two parts are whole numbers of units, small enough for a double: a fused
// multiply-add puts them into the low bits of a constant N, and the bits are added as integers. The elements have
// exponents within a window; others are added one by one to the block's chunks (lane_sums.cuh). docs/numerics.md has
// the proof.
#pragma once

#include "backends/cuda/exact/lane_sums.cuh"
#include "backends/cuda/exact/terms.cuh"
#include "backends/cuda/exact/window_sums.cuh"

namespace fanin::cuda {

/// The sums that a block of `Warps` warps adds, and the class of a warp's part.
template <class Terms, int Warps>
struct block_of {
  using block = lane_sums<typename Terms::element, Warps, Terms::power>;
  template <int LaneVectors>
  using warp = window_sums<Terms, Warps, LaneVectors>;
};

/// Whole warps call all members but the constructor. Terms is powers<T, 2>, or moments<T>.
template <class Terms, int Warps, int LaneVectors>
class square_sums {
  using T = typename Terms::element;
  using element_vector = typename Terms::vector;
  using block_sums = typename block_of<Terms, Warps>::block;
  using sums = typename block_sums::sums;
  static constexpr bool has_sum = std::is_same_v<Terms, moments<T>>;
  using format = detail::float_format<T>;
  static constexpr int width = vector<T>::size, batch_elements = LaneVectors * width;

 public:
  __device__ square_sums(const Terms&, block_sums& block, sums* total) : block_(block), total_(total) {}

  /// Adds all batches of a loaded_batches or copied_batches. If half of the lanes have elements outside of the
  /// window, all elements of the next batches_until_retry batches are added one by one.
  template <class Batches>
  __device__ void add(Batches& batches) {
    for (;;) {
      const bool has_batch = batches.has_batch();
      if (!has_batch || (batches_without_window_ == 0 && (needs_window_ || batches_ == most_batches))) {
        // The code of the end is fetched at the beginning: this is the one place.
        if (batches_ > 0 || Batches::fetches_code_first) flush();
        if (!has_batch) break;
        choose_window(batches);
      }
      if (batches_without_window_ > 0) {
        --batches_without_window_;
        block_.reserve(additions_, batch_elements, total_);
        additions_ += batch_elements;
        for_each_vector([&](int k) {
          element_vector v = batches.take(k);
          add_one_by_one(v.x.at);
        });
      } else {
        block_.reserve(additions_, batch_elements, total_);
        add_in_window(batches);
      }
      batches.advance();
    }
  }

  /// Adds one element of each lane with has_element: those before and after the whole vectors.
  __device__ void add_end(const T* x, bool has_element) {
    block_.reserve(additions_, 1, total_);
    ++additions_;
    if (!has_element) return;
    T last[] = {*x};
    add_one_by_one(last);
  }

  /// Squares are never -0.
  __device__ void finish() { block_.note(seen_bits::not_negative_zero); }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;
  static constexpr int parts = sizeof(T) == 4 ? 2 : 3, part_bits = 26, products = parts * (parts + 1) / 2;
  static constexpr int headroom = 4;  ///< binades that later elements may be larger
  /// Elements are below 2^(top_-1). The units of all products, and N, are normal doubles, and at least the lowest bit
  /// of the chunks.
  static constexpr int lowest_top = sizeof(T) == 4 ? -97 : -459,
                       highest_top = sizeof(T) == 4 ? format::high + 5 : 511;
  /// Each product of an element is at most 2^50 units.
  static constexpr int most_batches = 8160 / batch_elements;
  static constexpr int batches_until_retry = 15;
  static constexpr int vectors_at_once = sizeof(T) == 8 || has_sum ? 2 : 1;  ///< the fastest on an H200
  static constexpr int bias = format::high - 1;
  static constexpr unsigned exponent_one = 1u << (sizeof(T) == 4 ? 23 : 20);  ///< in the upper 32 bits of an element
  static_assert(width % 2 == 0 && LaneVectors % vectors_at_once == 0);

  template <class F>
  __device__ static void for_each_vector(F f) {
#pragma unroll
    for (int k = 0; k < LaneVectors; ++k) f(k);
  }

  __device__ static unsigned high_magnitude(T x) { return lane_sums<T, Warps, 2>::high_magnitude(x); }
  __device__ auto& squares() const {
    if constexpr (has_sum) {
      return block_.squares;
    } else {
      return block_;
    }
  }
  /// Whether x is in the window: zero, or of an exponent from top_ - parts * part_bits + digits - 1 to top_ - 2.
  __device__ bool holds(T x) const { return high_magnitude(x) - lowest_ < span_ || x == 0; }

  /// 1.5 * 2^(exponent + 52): a sum with it rounds to a multiple of 2^exponent.
  __device__ static double magic(int exponent) { return __hiloint2double((exponent + 52 + 1023) << 20 | 0x80000, 0); }
  /// The exponent of the unit of part i, and that of products of the parts i and j.
  __device__ int part_unit(int i) const { return top_ - part_bits * (i + 1); }
  __device__ int product_unit(int i, int j) const { return part_unit(i) + part_unit(j); }

  template <int N>
  __device__ void add_one_by_one(T (&x)[N]) {
    block_.use_lanes();
    product<T> square[N];
#pragma unroll
    for (int i = 0; i < N; ++i) square[i] = {x[i], x[i]};
    squares().add(square);
    if constexpr (has_sum) block_.sum.add(x);
  }

  /// Adds the elements outside of the window one by one, and leaves 0 for them. Returns whether one is above it.
  __device__ bool take_outside(element_vector& v) {
    bool has_above = false;
    element_vector outside{};
#pragma unroll
    for (int i = 0; i < width; ++i) {
      if (holds(v.x.at[i])) continue;
      has_above = has_above || high_magnitude(v.x.at[i]) >= lowest_ + span_;
      outside.x.at[i] = v.x.at[i];
      v.x.at[i] = 0;
    }
    add_one_by_one(outside.x.at);
    return has_above;
  }

  template <class Batches>
  __device__ void add_in_window(Batches& batches) {
    bool has_outside = false, has_above = false;
    [[maybe_unused]] double part_sum[parts] = {};  // At most 32 parts have sums that do not round.
#pragma unroll
    for (int k = 0; k < LaneVectors; k += vectors_at_once) {
      element_vector v[vectors_at_once];
#pragma unroll
      for (int i = 0; i < vectors_at_once; ++i) v[i] = batches.take(k + i);
      bool all_inside = true;
#pragma unroll
      for (const element_vector& one : v) {
#pragma unroll
        for (const T& x : one.x.at) all_inside = all_inside && holds(x);
      }
      if (!all_inside) {
        has_outside = true;
#pragma unroll
        for (element_vector& one : v) has_above = take_outside(one) || has_above;
      }
#pragma unroll
      for (const element_vector& one : v) {
#pragma unroll
        for (int i = 0; i < width; i += 2) add_pair(one.x.at[i], one.x.at[i + 1], part_sum);
      }
    }
    if constexpr (has_sum) {
#pragma unroll
      for (int i = 0; i < parts; ++i) add_bits(sum_[products + i], magic(part_unit(i)) + part_sum[i]);
    }
    ++batches_;
    const unsigned lanes_outside = __ballot_sync(all_lanes, has_outside);
    if (lanes_outside == 0) return;
    additions_ += batch_elements;
    needs_window_ = __any_sync(all_lanes, has_above);
    if (__popc(lanes_outside) >= 16) {
      needs_window_ = true;
      batches_without_window_ = batches_until_retry;
    }
  }

  __device__ static void add_bits(std::uint64_t& sum, double t) {
    sum += static_cast<std::uint64_t>(__double_as_longlong(t));
  }

  /// Adds the squares of two elements in the window, and their parts.
  __device__ void add_pair(double x, double y, double (&part_sum)[parts]) {
    double x_part[parts], y_part[parts];
    cut(x, x_part);
    cut(y, y_part);
    int product = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      if constexpr (has_sum) part_sum[i] += x_part[i] + y_part[i];
#pragma unroll
      for (int j = i; j < parts; ++j) {
        add_bits(sum_[product++],
                 __fma_rn(x_part[i], x_part[j], __fma_rn(y_part[i], y_part[j], magic(product_unit(i, j)))));
      }
    }
  }
  /// x as a sum of whole units of each part.
  __device__ void cut(double x, double (&part)[parts]) const {
#pragma unroll
    for (int i = 0; i + 1 < parts; ++i) {
      const double m = magic(part_unit(i));
      part[i] = (m + x) - m;
      x -= part[i];
    }
    part[parts - 1] = x;
  }

  /// Chooses a window for the batch, from the largest exponent of its elements.
  template <class Batches>
  __device__ void choose_window(const Batches& batches) {
    needs_window_ = false;
    unsigned largest = 0;
    for_each_vector([&](int k) {
      const element_vector v = batches.at(k);
#pragma unroll
      for (const T& x : v.x.at) largest = ::max(largest, high_magnitude(x));
    });
    const int exponent = static_cast<int>(warp_max(largest) / exponent_one) - bias;
    top_ = ::max(::min(exponent + 2 + headroom, highest_top), lowest_top);
    const int first = ::max(top_ - parts * part_bits + format::digits - 1 + bias, 0);
    const int last = ::min(top_ - 1 + bias, 2 * format::high - 1);  // One behind the last: at most infinity's.
    lowest_ = static_cast<unsigned>(first) * exponent_one;
    span_ = static_cast<unsigned>(last - first) * exponent_one;
  }

  /// Adds the integer sums of the products to the block's chunks, without the bits of N that they contain.
  __device__ void flush() {
    block_.reserve(additions_, 32 * products, total_);
    additions_ += 32 * products;
    const auto pairs = static_cast<unsigned>(batches_ * batch_elements / 2);
    int product = 0;
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      if constexpr (has_sum) add_units(block_.sum, products + i, static_cast<unsigned>(batches_), part_unit(i), 0);
#pragma unroll
      for (int j = i; j < parts; ++j) add_units(squares(), product++, pairs, product_unit(i, j), i == j ? 0 : 1);
    }
    batches_ = 0;
  }
  /// Adds the units in sum_[index], of the exponent `unit`, times 2^doublings, without the bits of `additions`
  /// constants. Clears it.
  template <int Power>
  __device__ void add_units(lane_sums<T, Warps, Power>& to, int index, unsigned additions, int unit, int doublings) {
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(magic(unit)));
    to.add_warp(static_cast<std::int64_t>(sum_[index] - additions * bits),
                unit + doublings - chunk_sums<T, Power>::low);
    sum_[index] = 0;
  }

  block_sums& block_;
  sums* total_;
  std::uint64_t sum_[products + (has_sum ? parts : 0)] = {};  ///< of bits(t)
  int top_ = 0;
  unsigned lowest_ = 0, span_ = 0;  ///< of the upper 32 bits of elements in the window
  int batches_ = 0;                 ///< in sum_
  int additions_ = 0;               ///< to one word of the block, since this warp's last drain
  int batches_without_window_ = 0;  ///< how many more batches are added element by element
  bool needs_window_ = true;
};

template <class T, int Warps>
struct block_of<powers<T, 2>, Warps> {
  using block = lane_sums<T, Warps, 2>;
  template <int LaneVectors>
  using warp = square_sums<powers<T, 2>, Warps, LaneVectors>;
};
template <class T, int Warps>
struct block_of<moments<T>, Warps> {
  using block = lane_moments<T, Warps>;
  template <int LaneVectors>
  using warp = square_sums<moments<T>, Warps, LaneVectors>;
};

}  // namespace fanin::cuda
