// SPDX-License-Identifier: Apache-2.0
// Quotients and roots that pairs of doubles decide are those of long integers.
#include "backends/cuda/fold/double_word.hpp"

#include <doctest/doctest.h>

#include <fanin/accumulator/moments.hpp>

#include "tests/support/adversary.hpp"

namespace fanin::test {

TEST_SUITE("unit/double_word") {
  TEST_CASE_TEMPLATE("a quotient or its root that pairs of doubles decide is the rounded one", R, double, float, f16,
                     bf16) {
    using format = fanin::detail::float_format<R>;
    generator random(6);
    std::size_t undecided = 0, wrong = 0, all = 0;
    for (int i = 0; i < 40000; ++i) {
      const std::uint32_t sum[1] = {0};
      std::uint32_t squares[7] = {}, numerator[9];
      const auto words = static_cast<unsigned>(1 + random() % 7);
      for (unsigned w = 0; w < words; ++w) squares[w] = static_cast<std::uint32_t>(random() >> random() % 64);
      if (i % 3 == 0) squares[0] = static_cast<std::uint32_t>(random() % 5), squares[words - 1] |= 1;
      const int unit = 2 * static_cast<int>(random() % 40) - 40 - 32 * static_cast<int>(words - words % 2);
      const std::uint64_t count = 1 + (random() >> (11 + random() % 53));
      fanin::detail::multiply(squares, count, numerator);
      for (const bool root : {false, true}) {
        cuda::double_word near;
        if (!cuda::lead(numerator, unit, near)) continue;
        near.divide(static_cast<double>(count));
        near.divide(static_cast<double>(count));
        if (root) near.take_root();
        typename format::bits found;
        ++all;
        if (!cuda::find_nearest(near, format(), found)) {
          ++undecided;
          continue;
        }
        const R rounded = fanin::detail::rounded_dispersion<R>(sum, squares, unit, count, {root, 0});
        wrong += found != fanin::detail::to_bits(rounded) ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
    CHECK(all > 70000);
    if (sizeof(R) >= 4) CHECK(undecided < all / 100);
  }
  TEST_CASE_TEMPLATE("numbers beside a power of two, and beside the middle of two numbers", R, double, float, bf16) {
    using format = fanin::detail::float_format<R>;
    generator random(8);
    std::size_t wrong = 0, powers = 0, decided_powers = 0;
    for (int i = 0; i < 20000; ++i) {
      // The quotient is 2^54 or an odd number of one bit more than R has, off by less than 2^-32 or by nothing.
      const bool is_power = i % 2 == 0;
      const std::uint64_t middle = std::uint64_t{1} << format::digits | random() >> (64 - format::digits) | 1;
      const std::uint64_t whole = is_power ? std::uint64_t{1} << 54 : middle;
      const std::uint64_t count = 1 + (random() >> (39 + random() % 25));
      const auto product = static_cast<fanin::detail::uint128>(whole) * count;
      std::uint32_t squares[7] = {};
      for (int w = 0; w < 4; ++w) squares[2 + w] = static_cast<std::uint32_t>(product >> 32 * w);
      const int off = static_cast<int>(random() % 3) - 1;
      if (off > 0) squares[0] = static_cast<std::uint32_t>(random());
      for (int w = 0; off < 0 && w < 4; ++w) {
        if (squares[w]-- != 0) break;
      }
      const std::uint32_t sum[1] = {0};
      std::uint32_t numerator[9];
      fanin::detail::multiply(squares, count, numerator);
      cuda::double_word near;
      REQUIRE(cuda::lead(numerator, -64, near));
      near.divide(static_cast<double>(count * count));
      powers += is_power && off == 0 ? 1 : 0;
      typename format::bits found;
      if (!cuda::find_nearest(near, format(), found)) continue;
      decided_powers += is_power && off == 0 ? 1 : 0;
      const R rounded = fanin::detail::rounded_dispersion<R>(sum, squares, -64, count, {false, 0});
      wrong += found != fanin::detail::to_bits(rounded) ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(decided_powers == powers);
  }
  TEST_CASE("the numerator of a variance") {
    const std::uint32_t sum[2] = {0xffffffff, 3}, squares[3] = {5, 0xffffffff, 9};
    std::uint32_t found[4], expected[5];
    cuda::subtract_in_registers(sum, squares, 7, found);
    fanin::detail::multiply(squares, 7, expected);
    fanin::detail::subtract_square(sum, expected);
    for (int i = 0; i < 4; ++i) CHECK(found[i] == expected[i]);
  }
}

}  // namespace fanin::test
