// SPDX-License-Identifier: Apache-2.0
// The part of an exact sum that a warp adds through a window of exponents. The head of backends/cpu/exact.cpp
// explains windows, their levels, and the constant M and the unit of a level; here each warp has a window of its own.
// Batches with terms outside of the window are added term by term to the block's chunks (lane_sums.cuh). A product of
// floats is added as one double, a product of doubles as two: the rounded product and its rounding error.
// docs/numerics.md has the proof.
#pragma once

#include "backends/cuda/exact/batches.cuh"
#include "backends/cuda/exact/lane_sums.cuh"
#include "backends/cuda/exact/terms.cuh"

namespace fanin::cuda {

/// Whole warps call all members but the constructor.
template <class Terms, int Warps, int LaneVectors>
class window_sums {
  using T = typename Terms::element;
  using term = typename Terms::term;
  using term_vector = typename Terms::vector;
  static constexpr int batch_elements = LaneVectors * vector<T>::size;
  static constexpr int Power = Terms::power;
  using sums = chunk_sums<T, Power>;
  using block_sums = lane_sums<T, Warps, Power>;

 public:
  __device__ window_sums(const Terms& terms, block_sums& block, sums* total)
      : terms_(terms), block_(block), total_(total) {}

  /// Adds all batches of a loaded_batches or copied_batches. For a batch outside of the window a new window is
  /// chosen. If none fits, this batch and the next batches_until_retry are added term by term.
  template <class Batches>
  __device__ void add(Batches& batches) {
    bool window_is_new = false;
    for (;;) {
      const bool has_batch = batches.has_batch();
      if (!has_batch || (batches_without_window_ == 0 && !window_is_ready())) {
        // The code of the end is fetched at the beginning: this is the one place.
        if (batches_ > 0 || Batches::fetches_code_first) flush();
        if (!has_batch) break;
        choose_window(batches);
        window_is_new = true;
      }
      bool added = false;
      if (has_window_) {
        added = add_in_window(batches);
      } else {
        for_each_vector([&](int k) { batches.take(k); });
      }
      if (!added && not_negative_zero_) {
        has_window_ = false;
        if (batches_without_window_ == 0 && !window_is_new) {
          batches.reload();
          continue;
        }
        batches_without_window_ = batches_without_window_ == 0 ? batches_until_retry : batches_without_window_ - 1;
        add_without_window(batches);
      }
      window_is_new = false;
      batches.advance();
    }
  }

  /// Adds one term of each lane with has_element: the elements before and after the whole vectors.
  __device__ void add_end(const T* x, bool has_element) {
    reserve_additions(1);
    if (!has_element) return;
    block_.use_lanes();
    term last[] = {terms_.load_one(x)};
    if (is_not_negative_zero(last[0])) block_.note(seen_bits::not_negative_zero);
    block_.add(last);
  }

  /// Adds to the block's sums whether a term was not -0.
  __device__ void finish() {
    if (not_negative_zero_) block_.note(seen_bits::not_negative_zero);
  }

 private:
  static constexpr unsigned all_lanes = 0xffffffffu;
  /// Terms of f32: the remainders that the first level leaves have so few bits that sums of them over a batch, in
  /// double, do not round. These sums go to the second level.
  static constexpr bool sums_remainders = sizeof(T) == 4 && Power == 1;
  /// Products of doubles are two terms.
  static constexpr bool has_product_errors = sizeof(T) == 8 && Power == 2;
  static constexpr int levels = sums_remainders ? 2 : 3;
  static constexpr int level_step = sums_remainders ? 46 : 51;
  static constexpr int headroom = 8;  ///< binades that later terms may be larger
  /// The highest exponent of a window, limited by the chunks and by the exponents of double. A window can be chosen
  /// for an f32 infinity too, but the first t of the infinity is outside of M's binade.
  static constexpr int highest_top = sums::high + 1 + headroom < 1023 ? sums::high + 1 + headroom : 1023;
  /// The lowest exponent of a window for products of doubles: its last unit is above 2^-968, and the rounding error
  /// of a product of at least 2^-968 is exact.
  static constexpr int lowest_top = has_product_errors ? -812 : -4 * 1024;
  /// Batches whose sums a level holds: each element adds at most 2^51 units to an int64.
  static constexpr int most_batches = 4032 / batch_elements;
  static constexpr int batches_until_retry = 15;  ///< added term by term
  static_assert(batch_elements <= 32 && batch_elements <= block_sums::most_additions);

  template <class F>
  __device__ static void for_each_vector(F f) {
#pragma unroll
    for (int k = 0; k < LaneVectors; ++k) f(k);
  }

  /// Whether there is a window whose sums can take another batch.
  __device__ bool window_is_ready() const { return has_window_ && batches_ < most_batches; }

  /// The exponent e of a level; its unit is 2^(e-52), and no less than the lowest bit of the chunks.
  __device__ int exponent(int level) const {
    constexpr int least = (sums::low < -1074 ? -1074 : sums::low) + 52;
    return ::max(top_ - level * level_step, least);
  }
  /// The constant M = 1.5 * 2^e of a level.
  __device__ double magic(int level) const { return __hiloint2double((exponent(level) + 1023) << 20 | 0x80000, 0); }

  /// Not 0 unless x is +0 or -0.
  __device__ static unsigned magnitude_bits(double x) { return 2u * __double2hiint(x) | __double2loint(x); }

  /// Subtracts from `remainder` its multiple q of a level's unit, and adds bits(t) = bits(M) + q / unit to
  /// `batch_sums`. Returns t = M + q.
  __device__ double extract(int level, double& remainder, std::uint64_t& batch_sums) const {
    const double t = magic(level) + remainder;
    batch_sums += static_cast<std::uint64_t>(__double_as_longlong(t));
    remainder += magic(level) - t;  // +0 for a multiple of the unit, and for -0
    return t;
  }

  /// Takes a batch. Adds it and returns true if all of the warp's terms fit into the window; otherwise adds nothing.
  template <class Batches>
  __device__ bool add_in_window(Batches& batches) {
    constexpr int element_levels = sums_remainders ? 1 : levels;
    std::uint64_t batch_sums[levels] = {};
    double remainders[vector<T>::size] = {};
    unsigned changed_bits = 0;  // of the first level's t against M
    unsigned below_window = 0;  // not 0 if a part of a term is below the last unit
    unsigned least = ~0u;
    const unsigned first = __double2hiint(magic(0));
    for_each_vector([&](int k) {
      const term_vector v = batches.take(k);
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) {
        const term x = v.at(i);
        double remainder = to_double(x);
        [[maybe_unused]] double product_error = 0;
        if constexpr (has_product_errors) {
          product_error = __fma_rn(x.x, x.y, -remainder);
          below_window |= 2u * __double2hiint(remainder) == 0 ? ::min(magnitude_bits(x.x), magnitude_bits(x.y))
                                                              : 0;  // p underflowed to 0
        }
        changed_bits |= __double2hiint(extract(0, remainder, batch_sums[0])) ^ first;
#pragma unroll
        for (int level = 1; level < element_levels; ++level) extract(level, remainder, batch_sums[level]);
        if constexpr (sums_remainders) {
          remainders[i] += remainder;
          least = ::min(least, 2 * detail::to_bits(x) - 1);  // 0 wraps round to the largest value
        } else {
          if constexpr (has_product_errors) {  // the error is below half a unit of the first level
#pragma unroll
            for (int level = 1; level < levels; ++level) extract(level, product_error, batch_sums[level]);
          }
          below_window |= __double2hiint(remainder) | __double2loint(remainder) | __double2hiint(product_error) |
                          __double2loint(product_error);
        }
      }
    });
    if constexpr (sums_remainders) {
      double remainder = (remainders[0] + remainders[1]) + (remainders[2] + remainders[3]);
      extract(1, remainder, batch_sums[1]);
      // The sums of remainders did not round if every element is 0 or at least 2^(e-75).
      constexpr int below_top = 75, bias = 127;
      const int lowest = exponent(0) - below_top + bias;
      below_window = lowest > 1 && least < (static_cast<unsigned>(lowest) << 24) - 1;
    }
    constexpr unsigned sign_and_exponent = 0xfff00000u;
    if (!__all_sync(all_lanes, (changed_bits & sign_and_exponent) == 0 && below_window == 0)) return false;
#pragma unroll
    for (int level = 0; level < levels; ++level) sum_[level] += batch_sums[level];
    ++batches_;
    return true;
  }

  /// Adds a batch to the block's chunks, term by term.
  template <class Batches>
  __device__ void add_without_window(const Batches& batches) {
    reserve_additions(batch_elements);
    block_.use_lanes();
    batches.for_each_again([&](const term_vector& v) {
      term x[vector<T>::size];
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) x[i] = v.at(i);
      block_.add(x);
    });
  }

  /// Chooses a window for the batch, from the largest exponent of its terms, and notes whether a term is not -0.
  template <class Batches>
  __device__ void choose_window(const Batches& batches) {
    using number = std::conditional_t<Power == 1, T, double>;
    using format = detail::float_format<number>;
    constexpr int below_leading = 8 * sizeof(number) - 32;
    unsigned largest = 0;
    for_each_vector([&](int k) {
      const term_vector v = batches.at(k);
#pragma unroll
      for (int i = 0; i < vector<T>::size; ++i) {
        const auto bits = detail::to_bits(static_cast<number>(to_double(v.at(i))));
        largest = ::max(largest, static_cast<unsigned>(bits >> below_leading) & 0x7fffffffu);
        not_negative_zero_ |= is_not_negative_zero(v.at(i));
      }
    });
    not_negative_zero_ = __any_sync(all_lanes, not_negative_zero_);
    const int biased = static_cast<int>(warp_max(largest) >> (format::digits - 1 - below_leading));
    const int tightest = biased - format::high + 3;  // terms are below 2^(tightest-1)
    top_ = ::max(::min(tightest + headroom, highest_top), lowest_top);
    has_window_ = not_negative_zero_ && tightest <= highest_top;
  }

  /// Adds the integer sums of the levels to the block's chunks, without the bits(M) that they contain, and clears
  /// them.
  __device__ void flush() {
    reserve_additions(32 * levels);
#pragma unroll
    for (int level = 0; level < levels; ++level) {
      const int additions_of_batch =
          sums_remainders && level == 1 ? 1 : batch_elements * (has_product_errors && level > 0 ? 2 : 1);
      const int additions = batches_ * additions_of_batch;
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(magic(level)));
      const auto total = static_cast<std::int64_t>(sum_[level] - static_cast<unsigned>(additions) * bits);
      block_.add_warp(total, exponent(level) - 52 - sums::low);
      sum_[level] = 0;
    }
    batches_ = 0;
  }

  __device__ void reserve_additions(int additions) {
    block_.reserve(additions_, additions, total_);
    additions_ += additions;
  }

  const Terms& terms_;
  block_sums& block_;
  sums* total_;
  std::uint64_t sum_[levels] = {};  ///< of bits(t)
  int top_ = 0;                     ///< the exponent e of the first level
  int batches_ = 0;                 ///< in sum_
  int additions_ = 0;               ///< to one word of the block, since this warp's last drain
  int batches_without_window_ = 0;  ///< how many more batches are added term by term
  bool has_window_ = false;
  bool not_negative_zero_ = false;  ///< whether a term was not -0
};

}  // namespace fanin::cuda
