// SPDX-License-Identifier: Apache-2.0
// Exact sums of numbers by additions of doubles that do not round, as term_sums.cuh has them for products.
#pragma once

#include "backends/cuda/batch/term_sums.cuh"

namespace fanin::cuda {

/// The units of a sum, which follow from the largest of its numbers.
template <class T>
struct number_bound {
  static constexpr bool is_double = std::is_same_v<T, double>;
  /// The first part has units of 2^(unit - 1075). With the least one all numbers are whole units of the last part,
  /// and with the most one the constant is finite.
  static constexpr int least_unit = is_double ? 52 : 903, most_unit = is_double ? 2046 : 2047;
  int unit;
  template <class Pairs>
  FANIN_HOST_DEVICE explicit number_bound(const Pairs& pairs) {
    const auto field = static_cast<int>(upper_half(pairs.most_of_x()) >> (is_double ? 20 : 23));
    unit = std::max(field + (is_double ? 2 : 898), int{least_unit});  // a number is below 2^51 units
  }
};

/// The sums of the parts of numbers T. A float has one part, and a double has two.
template <class T>
struct number_sums {
  using bound = number_bound<T>;
  static constexpr bool of_products = false, adds_numbers = true;
  static constexpr int all_parts = bound::is_double ? 2 : 1;
  /// The most numbers in a chain, as term_sums has them, and the binades above the largest number that a chain takes.
  static constexpr int longest_chain = bound::is_double ? 1 : 8, of_chain = bound::is_double ? 0 : 3;
  static constexpr unsigned most_terms = 1u << 11, most_of_group = 1u << 12;  ///< as term_sums has them
  std::uint64_t part[all_parts] = {};                                         ///< in two's complement
  std::uint32_t signs = ~0u;  ///< the upper bit is 1 if all numbers have the sign bit

  template <class F>
  FANIN_HOST_DEVICE void change_each(const F& f) {
    for (std::uint64_t& one : part) f(one);
  }
  /// Adds numbers, as term_sums::add() adds terms.
  template <int, int, int Sums, class Pairs>
  FANIN_HOST_DEVICE static bool add(number_sums (&to)[Sums], const Pairs& pairs, int unit, bool again) {
    constexpr int N = Pairs::count, chains = std::max(N / longest_chain, Sums);
    T x[N], y[N];
    pairs.get(x, y, again);
    double constant[all_parts], shifted[chains][all_parts];
    for (int k = 0; k < all_parts; ++k) constant[k] = cutting_constant(unit - 51 * k);
    for (auto& chain : shifted) {
      for (int k = 0; k < all_parts; ++k) chain[k] = constant[k];
    }
    number_sums more[Sums] = {};
    std::uint32_t outside = 0;
    bool has_rest = false;
    for (int i = 0; i < N; ++i) {
      double rest = x[i];
      for (int k = 0; k < all_parts; ++k) {
        double& sum = shifted[i % chains][k];
        const double before = sum;
        sum += rest;
        const double of_number = sum - before;
        if (k == 0) outside |= upper_half(sum) ^ upper_half(constant[0]);
        if (k + 1 < all_parts) {
          rest -= of_number;
        } else {
          has_rest |= of_number != rest;
        }
        if (i + chains >= N) more[i % Sums].part[k] += detail::to_bits(sum) - detail::to_bits(constant[k]);
      }
      more[i % Sums].signs &= upper_half(x[i]);
    }
    if (outside >> 20 != 0 || has_rest) return false;
    for (int s = 0; s < Sums; ++s) {
      for (int k = 0; k < all_parts; ++k) to[s].part[k] += more[s].part[k];
      to[s].signs &= more[s].signs;
    }
    return true;
  }
  /// The state of A, an accumulator of numbers, of some numbers in units of their own.
  template <class A, class Pairs>
  FANIN_HOST_DEVICE static typename A::state state_of(const Pairs& pairs) {
    T x[Pairs::count], y[Pairs::count];
    pairs.get(x, y, true);
    return A::of_vector(x);
  }

  /// The sum of the numbers.
  template <class State>
  FANIN_HOST_DEVICE State sum(int unit) const {
    const std::uint32_t flags = ~signs & State::has_positive;
    if constexpr (bound::is_double) {
      const std::uint64_t upper = part[0] << 51, low = upper + part[1];
      const std::int64_t high = (static_cast<std::int64_t>(part[0]) >> 13) +
                                (static_cast<std::int64_t>(part[1]) >> 63) + (low < upper ? 1 : 0);
      const std::uint64_t words[] = {low, static_cast<std::uint64_t>(high)};
      return scaled_state<State>(words, unit + 29, flags);  // in units of 2^(unit - 1126) and 2^-1155
    } else {
      return scaled_state<State>(part, unit - 903, flags);  // in units of 2^(unit - 1075) and 2^-172
    }
  }
};

}  // namespace fanin::cuda
