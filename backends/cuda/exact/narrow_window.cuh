// SPDX-License-Identifier: Apache-2.0
// The part of an exact sum of terms of 8 and 16 bits that a warp adds. Terms in a window are added in registers, by
// float additions that do not round. The others are added one by one to the block's chunks (shared_sums.cuh).
// docs/numerics.md has the proof.
#pragma once

#include <algorithm>
#include <cmath>

#include "backends/cuda/exact/narrow_numbers.cuh"
#include "backends/cuda/exact/shared_pairs.cuh"
#include "backends/power_of_2.hpp"

namespace fanin::cuda {

/// What is summed: numbers, their squares, both, or the products of two arrays' numbers.
enum class narrow_terms : std::uint8_t { numbers, squares, moments, products };

/// Sums `Eights` times eight terms of each thread at once. Whole warps call all members.
template <class Word, narrow_terms What, int Warps, int Eights>
class narrow_window {
  static constexpr bool has_numbers = What == narrow_terms::numbers || What == narrow_terms::moments;
  static constexpr bool has_products = What != narrow_terms::numbers;
  static constexpr int factors = What == narrow_terms::products ? 2 : 1;
  /// Whether the window is chosen for the data. One window holds all finite numbers of 8 bits.
  static constexpr bool is_chosen = sizeof(Word) == 2;

 public:
  using block_sums = std::conditional_t<What == narrow_terms::moments, shared_moments<float, Warps>,
                                        shared_sums<float, Warps, has_products ? 2 : 1>>;
  using sums = typename block_sums::sums;
  /// Eight factors of the terms of a thread.
  struct eight_terms {
    eight_numbers of[factors];
  };
  using terms = eight_terms[Eights];

  __device__ narrow_window(const element_rule& rule, block_sums& block, sums* total)
      : rule_(rule), block_(block), total_(total) {
    if constexpr (!is_chosen) {
      with_format<Word>(rule, [&]<class T>(T) {
        for (int f = 0; f < factors; ++f)
          limits_[f] = {1, end_of_halves<T>}, exponent_[f] = top + exponents_of_half<T>;
      });
      wants_window_ = false;
    }
  }

  __device__ bool wants_window() const { return wants_window_; }
  /// Chooses windows for terms of which these are the first.
  __device__ void choose(const terms& v) {
#pragma unroll
    for (int f = 0; f < factors; ++f) {
      narrow_range range;
      for (const eight_terms& one : v) range.add(one.of[f]);
      const bool is_bf16 = rule_.type == element_type::bf16;
      const int mantissa = is_bf16 ? 7 : 10, bias = is_bf16 ? 127 : 15;
      const int largest = static_cast<int>(warp_max(range.largest()) >> mantissa);
      const int field = ::min(::max(largest, is_bf16 ? least_field : 1) + 1 + headroom, 2 * bias + 1);
      const int lowest = field - window_bits + mantissa;
      limits_[f] = {lowest > 1 ? static_cast<unsigned>(lowest) << mantissa : 1, static_cast<unsigned>(field)
                                                                                    << mantissa};
      exponent_[f] = field - bias;
      scale_[f] = power_of_2<float>(top - exponent_[f]);
    }
    wants_window_ = false;
    rounds_left_ = rounds_of_window;
  }

  __device__ void add(terms& v) {
    keep_magnitudes(v);
    if (!not_negative_zero_) note_zeros(v);
    bool is_inside = true;
#pragma unroll
    for (int f = 0; f < factors; ++f) {
      narrow_range range;
#pragma unroll
      for (const eight_terms& one : v) range.add(one.of[f]);
      is_inside = is_inside && range.is_in(limits_[f]);
    }
    const unsigned outside = __ballot_sync(whole_warp, !is_inside);
    --rounds_left_;
    if (outside != 0) {
      begin_apart();
      wants_window_ = is_chosen && rounds_left_ <= 0;
      if (__popc(outside) >= 16) return add_each(v);  // the other threads would wait for these
      if (!is_inside) {
#pragma unroll
        for (eight_terms& one : v) one = take_outside<false>(block_, rule_, windows(), one);
      }
    }
    add_inside(v);
  }

  /// Adds the terms one by one, whatever they are.
  __device__ void add_apart(terms& v) {
    keep_magnitudes(v);
    note_zeros(v);
    begin_apart();
    add_each(v);
  }

  /// Adds the sums of the window to the block's chunks, and clears them.
  __device__ void flush() {
    additions_ = with_room(block_, additions_, total_);
    constexpr int low = detail::float_format<float>::low;
    if constexpr (has_numbers) {
#pragma unroll
      for (int k = 0; k < number_levels; ++k) {
        block_of_numbers().add_warp(sum_[k], exponent_[0] - level_bits(k) - low);
      }
    }
    if constexpr (has_products) {
      const int exponent = exponent_[0] + exponent_[factors - 1];
#pragma unroll
      for (int k = 0; k < product_levels; ++k) {
        block_.products().add_warp(sum_[number_levels + k], exponent - level_bits(k) - 2 * low);
      }
    }
#pragma unroll
    for (std::int64_t& sum : sum_) sum = 0;
  }

  /// Adds to the block's sums whether a term was not -0.
  __device__ void finish() {
    if (not_negative_zero_) block_.note(seen_bits::not_negative_zero);
  }

 private:
  static constexpr unsigned whole_warp = 0xffffffffu;
  static constexpr int headroom = 2;          ///< binades that later elements may be larger
  static constexpr int rounds_of_window = 8;  ///< after which another one may be chosen
  /// Numbers are scaled to less than 2^top. A level has units that are 2^23 times those of the next one.
  static constexpr int top = 16, number_levels = has_numbers ? 2 : 0, product_levels = has_products ? 3 : 0;
  static constexpr int levels = number_levels + product_levels;
  /// Numbers below 2^exponent are multiples of 2^(exponent - window_bits). Three levels have 68 bits of products, and
  /// two 45 bits of numbers.
  static constexpr int window_bits = has_products ? 34 : 45;
  static constexpr int least_field = 27;  ///< so that scales of bf16 are finite
  /// How many binades the units of a level are below the terms' bound.
  static constexpr int level_bits(int level) { return 22 + 23 * level; }

  struct limits_of_factors {
    narrow_limits of[factors];
  };
  __device__ limits_of_factors windows() const {
    limits_of_factors all;
    for (int f = 0; f < factors; ++f) all.of[f] = limits_[f];
    return all;
  }

  /// 1.5 * 2^23 units of a level of terms below 2^bound. A sum with it is rounded to whole units, of which the number
  /// is that of the sum's bits less the constant's.
  __device__ static constexpr float constant(int bound, int level) {
    return 1.5f * power_of_2<float>(bound - level_bits(level) + 23);
  }

  __device__ void keep_magnitudes(terms& v) const {
    if constexpr (What == narrow_terms::numbers) {
      if (!rule_.magnitudes) return;
#pragma unroll
      for (eight_terms& one : v) {
#pragma unroll
        for (std::uint32_t& pair : one.of[0].pair) pair &= magnitudes_of_pair;
      }
    }
  }

  /// Notes whether a term is not -0. Squares never are.
  __device__ void note_zeros(const terms& v) {
    std::uint32_t found = factors == 1 && has_products ? 1 : 0;
#pragma unroll
    for (const eight_terms& one : v) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t x = one.of[0].pair[i];
        if constexpr (What == narrow_terms::numbers) found |= x ^ signs_of_pair;
        if constexpr (factors == 2) {
          const std::uint32_t y = one.of[1].pair[i];
          const auto nonzero = [](std::uint32_t pair) { return (pair & magnitudes_of_pair) + magnitudes_of_pair; };
          found |= (~(x ^ y) | (nonzero(x) & nonzero(y))) & signs_of_pair;
        }
      }
    }
    not_negative_zero_ = not_negative_zero_ || found != 0;
  }

  /// Makes room in the block's words for the sums of a window, or for all terms of a round that are added one by one.
  /// Returns the additions that there may be then. Not inlined, since that is rare.
  __device__ __noinline__ static int with_room(block_sums& block, int additions, sums* total) {
    constexpr int more = std::max(32 * levels, 8 * Eights);
    block.reserve(additions, more, total);
    return additions + more;
  }
  __device__ void begin_apart() {
    additions_ = with_room(block_, additions_, total_);
    block_.use_copies();
  }

  __device__ void add_each(const terms& v) {
#pragma unroll
    for (const eight_terms& one : v) take_outside<true>(block_, rule_, {}, one);
  }

  __device__ static void read(const eight_numbers& v, float (&x)[8], const element_rule& rule) {
    if constexpr (sizeof(Word) == 2) {
      word_numbers<std::uint16_t>::read_registers(v.pair, x, rule);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        x[2 * i] = lower_number<f16>(v.pair[i]), x[2 * i + 1] = upper_number<f16>(v.pair[i]);
    }
  }
  /// Adds the terms outside of the window, or All of them, one by one, and returns 0 in place of their factors. Not
  /// inlined: short sums fetch this code only if they need it.
  template <bool All>
  __device__ __noinline__ static eight_terms take_outside(block_sums& block, const element_rule& rule,
                                                          limits_of_factors limits, eight_terms v) {
    float x[factors][8];
#pragma unroll
    for (int f = 0; f < factors; ++f) read(v.of[f], x[f], rule);
    std::conditional_t<has_products, product<float>, float> term[8] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      bool is_inside = true;
#pragma unroll
      for (int f = 0; f < factors; ++f) {
        const std::uint32_t size = v.of[f].pair[i / 2] >> (i % 2 * 16) & 0x7fff;
        is_inside = is_inside && limits.of[f].hold(size);
        if constexpr (sizeof(Word) == 1) {
          with_format<Word>(rule, [&]<class T>(T) {
            if constexpr (exponents_of_half<T> != 0) {
              static_assert(!T::has_infinity);
              x[f][i] = size == end_of_halves<T> ? detail::from_bits<float>(detail::float_format<float>::quiet_nan)
                                                 : x[f][i] * (1 << exponents_of_half<T>);
            }
          });
        }
      }
      if (!All && is_inside) continue;
      if constexpr (has_products) {
        term[i] = {x[0][i], x[factors - 1][i]};
      } else {
        term[i] = x[0][i];
      }
#pragma unroll
      for (int f = 0; f < factors; ++f) v.of[f].pair[i / 2] &= i % 2 == 0 ? 0xffff0000u : 0xffffu;
    }
    block.add(term);
    return v;
  }

  /// Adds terms that are in the window.
  __device__ void add_inside(const terms& v) {
    std::uint32_t bits[levels] = {};
#pragma unroll
    for (const eight_terms& one : v) {
      float x[factors][8];
#pragma unroll
      for (int f = 0; f < factors; ++f) {
        read(one.of[f], x[f], rule_);
#pragma unroll
        for (float& number : x[f]) number = is_chosen ? number * scale_[f] : number;
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if constexpr (has_numbers) add_rest<top, 0, number_levels>(x[0][i], bits);
        if constexpr (has_products) {
          const float a = x[0][i], b = x[factors - 1][i], sum = fmaf(a, b, constant(2 * top, 0));
          bits[number_levels] += detail::to_bits(sum);
          add_rest<2 * top, 1, product_levels>(fmaf(a, b, constant(2 * top, 0) - sum), bits);
        }
      }
    }
    const auto note = [&](int k, float constant) {
      sum_[k] += static_cast<std::int32_t>(bits[k] - 8 * Eights * detail::to_bits(constant));
    };
#pragma unroll
    for (int k = 0; k < number_levels; ++k) note(k, constant(top, k));
#pragma unroll
    for (int k = 0; k < product_levels; ++k) note(number_levels + k, constant(2 * top, k));
  }
  /// Adds what is left of a term below 2^Bound to the levels from First on.
  template <int Bound, int First, int Levels>
  __device__ static void add_rest(float rest, std::uint32_t (&bits)[levels]) {
#pragma unroll
    for (int k = First; k < Levels; ++k) {
      const float sum = rest + constant(Bound, k);
      bits[Bound == top ? k : number_levels + k] += detail::to_bits(sum);
      rest -= sum - constant(Bound, k);
    }
  }

  __device__ auto& block_of_numbers() {
    if constexpr (What == narrow_terms::moments) {
      return block_.sum();
    } else {
      return block_;
    }
  }

  const element_rule& rule_;
  block_sums& block_;
  sums* total_;
  narrow_limits limits_[factors];
  float scale_[factors] = {};
  int exponent_[factors] = {};     ///< numbers in the window are below 2 to this power
  std::int64_t sum_[levels] = {};  ///< in units of the levels: a thread's, for up to 2^36 terms
  int additions_ = 0;              ///< additions to one word of the block since this warp's last drain
  int rounds_left_ = 0;            ///< until another window may be chosen
  bool wants_window_ = true;
  bool not_negative_zero_ = false;  ///< whether a term was not -0
};

}  // namespace fanin::cuda
