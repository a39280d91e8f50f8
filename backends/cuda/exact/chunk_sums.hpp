// The exact sum as kernels hold it: a fixed-point number in chunks of 16 bits, each with its own carrier, so that
// threads can add to chunks at the same time and in any order.
#pragma once

#include <cstdint>

#include <fanin/accumulator/dot.hpp>
#include <fanin/accumulator/exact.hpp>
#include <fanin/accumulator/moments.hpp>

namespace fanin::cuda {

/// What the elements were, as bits: the specials of a saved accumulator, and whether one was not -0.
struct seen_bits {
  static constexpr unsigned special = 7;
  static constexpr unsigned nan = 1, plus_infinity = 2, minus_infinity = 4, numbers = 8;
};

/// The sum of chunk[i] * 2^(low + 16 i): of x^Power, or of products for a Power of 2, for one term at least.
template <class T, int Power = 1>
struct chunk_sums {
  using format = detail::float_format<T>;
  using accumulator = basic_exact_accumulator<T, Power>;
  static constexpr int bits = 16;
  static constexpr int low = Power * format::low;
  static constexpr int high = Power * format::high;
  static constexpr int count = (high - low + 64 + bits - 1) / bits + 1;

  std::int64_t chunk[count];
  unsigned seen;

  /// In an accumulator of these sums.
  template <class Accumulator>
  FANIN_HOST_DEVICE Accumulator restored() const {
    typename accumulator::sum_type::words words = {};
    std::int64_t carry = 0;
    for (int i = 0; i < 2 * accumulator::sum_type::limb_count; ++i) {
      const std::int64_t sum = i < count ? chunk[i] + carry : carry;
      words[i / 2] |= static_cast<std::uint32_t>(sum & 0xffff) << (bits * (i % 2));
      carry = sum >> bits;
    }
    return Accumulator::restore(words, (seen & seen_bits::numbers) != 0, seen & seen_bits::special);
  }
  FANIN_HOST_DEVICE explicit operator accumulator() const { return restored<accumulator>(); }
};

/// A sum of products of two arrays' elements.
template <class T>
struct chunk_products : chunk_sums<T, 2> {
  FANIN_HOST_DEVICE explicit operator exact_dot_accumulator<T>() const {
    return this->template restored<exact_dot_accumulator<T>>();
  }
};

/// What a variance is made of.
template <class T>
struct chunk_moments {
  chunk_sums<T, 1> sum;
  chunk_sums<T, 2> squares;

  FANIN_HOST_DEVICE explicit operator exact_moments_accumulator<T>() const {
    return {static_cast<exact_accumulator<T>>(sum), static_cast<exact_square_accumulator<T>>(squares)};
  }
};

}  // namespace fanin::cuda
