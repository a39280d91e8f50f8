// SPDX-License-Identifier: Apache-2.0
// Running sums of the numbers of a tile, as integers of units that all of them share. The difference of two is the
// sum of the numbers in between.
#pragma once

#include "backends/cuda/batch/scaled_sum.cuh"
#include "backends/cuda/exact/warp.cuh"

namespace fanin::cuda {

/// A running sum. `range` has facts about the numbers of a tile, and `units` follow from these. Number is the
/// parameter of scaled_vector, and the elements have Digits digits.
template <class Number, int Digits>
struct tile_sum;

template <int Digits>
struct tile_sum<float, Digits> {
  using state = scaled_vector<float>::state;
  std::int64_t of_units = 0;

  struct range {
    std::uint32_t largest = 0, smallest = ~0u;  ///< twice the bits; less 1, so that 0 is never the smallest
    bool may_have_negative_zero = false;
    FANIN_HOST_DEVICE void add(float x) {
      const std::uint32_t bits = detail::to_bits(x), twice = 2 * bits;
      largest = std::max(largest, twice);
      smallest = std::min(smallest, twice - 1);
      may_have_negative_zero |= bits == 0x80000000u;
    }
    /// Merges the ranges of the warp's threads. Every thread gets the merged range.
    __device__ void merge_warp() {
      largest = warp_max(largest);
      smallest = ~warp_max(~smallest);
      may_have_negative_zero = __any_sync(0xffffffffu, may_have_negative_zero);
    }
  };
  /// The units for sums of up to `most` numbers.
  class units {
   public:
    FANIN_HOST_DEVICE units(const range& all, unsigned most)
        : in_(all.largest, 32 - std::countl_zero(most)),
          fit_(all.largest < scaled_vector<float>::infinite && in_.template holds<Digits>(all.smallest)) {}
    /// Whether the units may hold the numbers; add() tells whether they do.
    FANIN_HOST_DEVICE bool may_fit() const { return fit_; }

   private:
    friend tile_sum;
    scaled_vector<float>::units in_;
    bool fit_;
  };
  /// Returns whether the number is a whole number of units, if they may hold it.
  FANIN_HOST_DEVICE bool add(float x, const units& u) {
    of_units += u.in_.of(x);
    return true;
  }
  FANIN_HOST_DEVICE tile_sum& operator+=(const tile_sum& other) { return of_units += other.of_units, *this; }
  FANIN_HOST_DEVICE tile_sum& operator-=(const tile_sum& other) { return of_units -= other.of_units, *this; }
  FANIN_HOST_DEVICE bool is_zero() const { return of_units == 0; }
  FANIN_HOST_DEVICE state scaled_state(const units& u, std::uint32_t flags) const {
    return u.in_.sum(of_units, flags);
  }
};

/// The running sum of doubles has two parts: multiples of 2^40 units, and the rest.
template <int Digits>
struct tile_sum<double, Digits> {
  using state = scaled_vector<double>::state;
  std::int64_t high = 0, low = 0;

  struct range {
    std::uint32_t largest = 0;  ///< twice the upper half of the bits
    bool may_have_negative_zero = false;
    FANIN_HOST_DEVICE void add(double x) {
      const auto upper = static_cast<std::uint32_t>(detail::to_bits(x) >> 32);
      largest = std::max(largest, 2 * upper);
      may_have_negative_zero |= upper == 0x80000000u;
    }
    __device__ void merge_warp() {
      largest = warp_max(largest);
      may_have_negative_zero = __any_sync(0xffffffffu, may_have_negative_zero);
    }
  };
  /// Units of 2^(exponent - 1113), for at most 2^12 numbers. The first part of a number is below 2^51 multiples of
  /// 2^40 units, and the rest is below 2^39 units.
  class units {
   public:
    FANIN_HOST_DEVICE units(const range& all, unsigned) : exponent_(std::max(all.largest >> 21, 39u)) {}
    /// Whether the constant of the first part is finite.
    FANIN_HOST_DEVICE bool may_fit() const { return exponent_ <= 2044; }

   private:
    friend tile_sum;
    /// 1.5 * 2^52 multiples of the part's unit.
    FANIN_HOST_DEVICE double constant(unsigned exponent) const {
      return detail::from_bits<double>(std::uint64_t{exponent + 2} << 52 | std::uint64_t{1} << 51);
    }
    FANIN_HOST_DEVICE double of_high() const { return constant(exponent_); }
    FANIN_HOST_DEVICE double of_low() const { return constant(exponent_ - 40); }
    std::uint32_t exponent_;
  };
  FANIN_HOST_DEVICE bool add(double x, const units& u) {
    return cut(cut(x, u.of_high(), high), u.of_low(), low) == 0;
  }
  FANIN_HOST_DEVICE tile_sum& operator+=(const tile_sum& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  FANIN_HOST_DEVICE tile_sum& operator-=(const tile_sum& other) {
    high -= other.high;
    low -= other.low;
    return *this;
  }
  FANIN_HOST_DEVICE bool is_zero() const { return (high | low) == 0; }
  FANIN_HOST_DEVICE state scaled_state(const units& u, std::uint32_t flags) const {
    const std::uint64_t lower = (static_cast<std::uint64_t>(high) << 40) + static_cast<std::uint64_t>(low);
    const std::uint64_t upper =
        static_cast<std::uint64_t>((high >> 24) + (low >> 63)) + (lower < static_cast<std::uint64_t>(low) ? 1 : 0);
    const std::uint32_t sign = static_cast<std::int64_t>(upper) < 0 ? ~0u : 0;
    const std::uint32_t words[] = {0,
                                   static_cast<std::uint32_t>(lower),
                                   static_cast<std::uint32_t>(lower >> 32),
                                   static_cast<std::uint32_t>(upper),
                                   static_cast<std::uint32_t>(upper >> 32),
                                   sign};
    const unsigned places = u.exponent_ + 1155 - 1113, shift = places % 32;
    state s;
    for (int i = 0; i < 5; ++i) {
      s.word[i] = static_cast<std::uint32_t>((std::uint64_t{words[i + 1]} << 32 | words[i]) << shift >> 32);
    }
    s.tag = places / 32 | flags;
    return s;
  }

 private:
  /// Adds the multiple of the part's unit that is nearest to x, and returns the rest of x.
  FANIN_HOST_DEVICE static double cut(double x, double constant, std::int64_t& part) {
    const double rounded = x + constant;
    part += static_cast<std::int64_t>(detail::to_bits(rounded) - detail::to_bits(constant));
    return x - (rounded - constant);
  }
};

}  // namespace fanin::cuda
