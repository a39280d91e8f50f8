// The exact sum as kernels hold it: a fixed-point number in chunks of 16 bits, each with its own carrier, so that
// threads can add to chunks at the same time and in any order.
#pragma once

#include <cstdint>

#include <fanin/accumulator/exact.hpp>

namespace fanin::cuda {

/// What the elements were, as bits: the specials of a saved accumulator, and whether one was not -0.
struct seen_bits {
  static constexpr unsigned special = 7;
  static constexpr unsigned nan = 1, plus_infinity = 2, minus_infinity = 4, numbers = 8;
};

/// The sum of chunk[i] * 2^(low + 16 i), of one element at least.
template <class T>
struct chunk_sums {
  using format = detail::float_format<T>;
  using accumulator = exact_accumulator<T>;
  static constexpr int bits = 16;
  static constexpr int count = (format::high - format::low + 64 + bits - 1) / bits + 1;

  std::int64_t chunk[count];
  unsigned seen;

  FANIN_HOST_DEVICE explicit operator accumulator() const {
    typename accumulator::sum_type::words words = {};
    std::int64_t carry = 0;
    for (int i = 0; i < 2 * accumulator::sum_type::limb_count; ++i) {
      const std::int64_t sum = i < count ? chunk[i] + carry : carry;
      words[i / 2] |= static_cast<std::uint32_t>(sum & 0xffff) << (bits * (i % 2));
      carry = sum >> bits;
    }
    return accumulator::restore(words, (seen & seen_bits::numbers) != 0, seen & seen_bits::special);
  }
};

}  // namespace fanin::cuda
