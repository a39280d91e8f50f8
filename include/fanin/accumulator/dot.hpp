// SPDX-License-Identifier: Apache-2.0
// Dot products without rounding. The product of two mantissas fits in 128 bits and is added exactly.
#pragma once

#include <cstdint>

#include <fanin/accumulator/exact.hpp>

namespace fanin {

/// The exact sum of products x y, for up to 2^63 products.
/// No products give +0. Products that are all -0 give -0. Exact cancellation gives +0. Any NaN, a product of 0 and
/// an infinity, or products +inf and -inf together, give the canonical quiet NaN. Otherwise an infinite product
/// gives that infinity. Finite products neither overflow nor underflow.
/// Trivially copyable; merging in any order gives the same state. Does not depend on the floating-point environment.
/// Threads: calls of const members may overlap; any other call has to be the only one.
template <class T>
class exact_dot_accumulator {
  using format = detail::float_format<T>;

 public:
  using value_type = T;
  using sum_type = detail::fixed_point<2 * format::low, 2 * format::high>;

  /// Adds x y. Cost: a few integer operations.
  FANIN_HOST_DEVICE void add(T x, T y) {
    const auto x_bits = detail::to_bits(x), y_bits = detail::to_bits(y);
    const bool negative = ((x_bits ^ y_bits) & format::sign) != 0;
    const auto x_size = x_bits & ~format::sign, y_size = y_bits & ~format::sign;
    if (x_size >= format::infinity || y_size >= format::infinity) {
      const bool number = x_size <= format::infinity && y_size <= format::infinity && x_size != 0 && y_size != 0;
      special_ |= !number ? nan : negative ? minus_infinity : plus_infinity;
    } else if (x_size == 0 || y_size == 0) {
      (negative ? minus_zeros_ : numbers_) = true;
    } else {
      const auto [x_mantissa, x_exponent] = detail::unpack<T>(x_size);
      const auto [y_mantissa, y_exponent] = detail::unpack<T>(y_size);
      const auto product = static_cast<detail::int128>(x_mantissa) * y_mantissa;
      sum_.add_scaled(negative ? -product : product, x_exponent + y_exponent);
      numbers_ = true;
    }
  }

  /// Adds value * 2^exponent, which is a sum of finite products that the caller has computed exactly. Not all of
  /// the products are -0. The sum is a multiple of the smallest positive product. `exponent` is as in
  /// basic_exact_accumulator::add_scaled for Power 2.
  FANIN_HOST_DEVICE void add_scaled(detail::int128 value, int exponent) {
    numbers_ = true;
    sum_.add_scaled(value, exponent);
  }

  /// Adds a sum that is wider than 128 bits like add_scaled().
  template <int Low, int High>
  FANIN_HOST_DEVICE void add_sum(const detail::fixed_point<Low, High>& partial) {
    numbers_ = true;
    sum_.add_number(partial);
  }

  /// Adds everything that was added to `other`.
  FANIN_HOST_DEVICE void merge(const exact_dot_accumulator& other) {
    sum_.merge(other.sum_);
    special_ |= other.special_;
    minus_zeros_ |= other.minus_zeros_;
    numbers_ |= other.numbers_;
  }

  /// Writes the state as integers that any transport can add, as basic_exact_accumulator::write_lanes() does. The
  /// lanes of the sum come first. Five lanes follow, which are 0 or 1. They say whether a finite product was not
  /// -0, whether a product was -0, and whether there was a NaN, +infinity and -infinity.
  static constexpr std::size_t lane_count = sum_type::limb_count + 5;
  void write_lanes(std::int64_t* out) const {
    sum_.write_lanes(out);
    std::int64_t* const seen = out + sum_type::limb_count;
    seen[0] = numbers_;
    seen[1] = minus_zeros_;
    for (int bit = 0; bit < 3; ++bit) seen[2 + bit] = special_ >> bit & 1;
  }
  /// The merged state of up to 2^21 states whose lanes were added.
  static exact_dot_accumulator read_lanes(const std::int64_t* lanes) {
    exact_dot_accumulator state;
    state.sum_ = sum_type::read_lanes(lanes);
    const std::int64_t* const seen = lanes + sum_type::limb_count;
    state.numbers_ = seen[0] > 0;
    state.minus_zeros_ = seen[1] > 0;
    for (int bit = 0; bit < 3; ++bit) state.special_ |= static_cast<std::uint8_t>((seen[2 + bit] > 0) << bit);
    return state;
  }

  /// Makes the state of at least one product. `numbers` says whether a product was not -0. `sum` and `special` are
  /// as in basic_exact_accumulator::restore for Power 2.
  FANIN_HOST_DEVICE static exact_dot_accumulator restore(const typename sum_type::words& sum, bool numbers,
                                                         unsigned special) {
    exact_dot_accumulator state;
    state.sum_ = sum_type::from_words(sum);
    state.special_ = static_cast<std::uint8_t>(special);
    state.minus_zeros_ = !numbers;
    state.numbers_ = numbers;
    return state;
  }

  /// The sum, correctly rounded as by basic_exact_accumulator::round().
  template <class R = T, class To = detail::float_format<R>>
  FANIN_HOST_DEVICE typename To::value round(To to = {}) const {
    const bool is_sum = special_ == 0 && (numbers_ || !minus_zeros_);
    return is_sum ? sum_.template round<R>(to) : detail::special_value(special_, to);
  }

  /// The sum of the finite products. A sum of zero has no sign.
  FANIN_HOST_DEVICE const sum_type& total() const { return sum_; }

 private:
  // special_ consists of these bits.
  static constexpr std::uint8_t nan = 1, plus_infinity = 2, minus_infinity = 4;

  sum_type sum_;
  std::uint8_t special_ = 0;
  bool minus_zeros_ = false;  ///< whether a product was -0
  bool numbers_ = false;      ///< whether a finite product was not -0
};

}  // namespace fanin
