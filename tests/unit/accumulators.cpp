// SPDX-License-Identifier: Apache-2.0
// Tests the accumulators of integers, extrema, products and rounded sums one by one, at the limits of their states.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <fanin/recipe.hpp>

#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
using range = std::numeric_limits<T>;
using fanin::detail::int128;
using fanin::detail::uint128;

template <class A>
typename A::state state_of(const std::vector<typename A::element>& x) {
  auto s = A::identity();
  for (const auto v : x) A::add(s, v);
  return s;
}

/// The value of x, from two states: one of the elements before `middle`, and one of the elements from `middle` on.
template <class A, class R>
R value_of(const std::vector<typename A::element>& x, std::size_t middle = 0) {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(middle);
  auto s = state_of<A>({x.begin(), begin});
  A::merge(s, state_of<A>({begin, x.end()}));
  return A::template finish<R>(s, x.size());
}

constexpr std::int64_t most = range<std::int64_t>::max(), least = range<std::int64_t>::min();
constexpr double inf = range<double>::infinity(), nan = range<double>::quiet_NaN();

}  // namespace

TEST_SUITE("unit/accumulators") {
  TEST_CASE("sums of integers up to the limits of the result") {
    using signed_sum = accumulator::integer_sum<std::int64_t>;
    using unsigned_sum = accumulator::integer_sum<std::uint64_t>;
    CHECK(value_of<signed_sum, std::int64_t>({most, 1, -1}, 2) == most);
    CHECK(value_of<signed_sum, std::int64_t>({least, -1, 1}, 1) == least);
    CHECK_THROWS_AS((value_of<signed_sum, std::int64_t>({most, 1})), overflow);
    CHECK_THROWS_AS((value_of<signed_sum, std::int64_t>({least, -1})), overflow);
    CHECK(value_of<unsigned_sum, std::uint64_t>({~std::uint64_t{0} - 1, 1}) == ~std::uint64_t{0});
    CHECK_THROWS_AS((value_of<unsigned_sum, std::uint64_t>({~std::uint64_t{0}, 1})), overflow);
  }

  TEST_CASE("means of integers are rounded once, ties to even") {
    using mean = accumulator::integer_mean<std::int64_t>;
    const auto quotient = [](int128 sum, std::uint64_t count) { return mean::finish<double>(sum, count); };
    const int128 whole = int128{1} << 53;
    CHECK(quotient(0, 5) == 0);
    CHECK(quotient(-7, 2) == -3.5);
    CHECK(quotient(whole + 1, 1) == 0x1p53);
    CHECK(quotient(whole + 3, 1) == 0x1p53 + 4);
    CHECK(quotient(2 * whole + 1, 2) == 0x1p53);
    CHECK(quotient((whole + 1) * 3 + 1, 3) == 0x1p53 + 2);
    CHECK(quotient((whole + 1) * 3 - 1, 3) == 0x1p53);
    const std::uint64_t many = std::uint64_t{1} << 63;
    CHECK(quotient(int128{least} * static_cast<int128>(many) / 2, many) == -0x1p62);
    CHECK(quotient(((whole + 1) * static_cast<int128>(many)) + 1, many) == 0x1p53 + 2);
    CHECK(quotient((whole + 1) * static_cast<int128>(many), many) == 0x1p53);
    CHECK(accumulator::detail::rounded_quotient(uint128{1} << 127, 1) == 0x1p127);
    CHECK(accumulator::detail::rounded_quotient((uint128{1} << 127) - 1, 1) == 0x1p127);
    CHECK(accumulator::detail::rounded_quotient(1, 3) == 1.0 / 3);
    CHECK(accumulator::detail::rounded_quotient(whole - 1, whole - 1) == 1);
    CHECK(accumulator::detail::rounded_quotient(1, static_cast<std::uint64_t>(whole) + 1) == 0x1p-53 - 0x1p-106);
  }

  TEST_CASE("sums of squares of integers stay at 2^127") {
    using squares = accumulator::integer_square_sum<std::int64_t>;
    CHECK(value_of<squares, std::int64_t>({3037000499, -76996, 377, 25, 6}, 2) == most);
    CHECK_THROWS_AS((value_of<squares, std::int64_t>({3037000499, -76996, 377, 25, 6, 1})), overflow);
    CHECK_THROWS_AS((value_of<squares, std::int64_t>({3037000500})), overflow);
    CHECK(state_of<squares>({least}) == uint128{1} << 126);
    CHECK(state_of<squares>({least, least}) == squares::limit);
    CHECK(state_of<squares>({least, least, most, 1}) == squares::limit);
    CHECK(state_of<squares>({least, most}) < squares::limit);
    auto s = state_of<squares>({least, least});
    squares::merge(s, state_of<squares>({least, least}));
    CHECK(s == squares::limit);
    auto small = state_of<squares>({1});
    squares::merge(small, s);
    CHECK(small == squares::limit);
    CHECK(squares::fits<std::int64_t>(static_cast<uint128>(most)));
    CHECK(!squares::fits<std::int64_t>(static_cast<uint128>(most) + 1));
  }

  TEST_CASE("products of integers up to the limits of the result, and through zero") {
    using product = accumulator::integer_product<std::int64_t>;
    constexpr std::int64_t half = std::int64_t{1} << 62;
    CHECK(value_of<product, std::int64_t>({half, 2, -1}, 1) == least);
    CHECK(value_of<product, std::int64_t>({least, 1}, 1) == least);
    CHECK_THROWS_AS((value_of<product, std::int64_t>({least, -1})), overflow);
    CHECK_THROWS_AS((value_of<product, std::int64_t>({half, 2})), overflow);
    CHECK_THROWS_AS((value_of<product, std::int64_t>({half, 4})), overflow);
    CHECK_THROWS_AS((value_of<product, std::int64_t>({half, half, 1}, 2)), overflow);
    CHECK(value_of<product, std::int64_t>({half, half, 0}, 2) == 0);
    CHECK(value_of<product, std::int64_t>({0, half, half}, 1) == 0);
    CHECK(value_of<product, std::int64_t>({-3, 0, -5}) == 0);
    CHECK(product::finish<std::int64_t>(state_of<product>({3}), 1) == 3);
    CHECK(value_of<product, std::int64_t>({-3, -5, -1}, 1) == -15);
    CHECK(value_of<accumulator::integer_product<std::uint64_t>, std::uint64_t>({most, 2}) == ~std::uint64_t{0} - 1);
    CHECK_THROWS_AS((value_of<accumulator::integer_product<std::uint64_t>, std::uint64_t>({1u << 31, 1u << 31, 4})),
                    overflow);
  }

  TEST_CASE("extrema: NaN, both zeros, and the identities") {
    using smallest = accumulator::smallest<double>;
    using largest = accumulator::largest<double>;
    for (const std::size_t middle : {0, 1, 2}) {
      CHECK(bits_of(value_of<smallest, double>({0.0, -0.0}, middle)) == bits_of(-0.0));
      CHECK(bits_of(value_of<smallest, double>({-0.0, 0.0}, middle)) == bits_of(-0.0));
      CHECK(bits_of(value_of<largest, double>({0.0, -0.0}, middle)) == bits_of(0.0));
      CHECK(bits_of(value_of<largest, double>({-0.0, 0.0}, middle)) == bits_of(0.0));
      CHECK(bits_of(value_of<smallest, double>({-nan, 1}, middle)) == bits_of(nan));
      CHECK(bits_of(value_of<largest, double>({1, -nan}, middle)) == bits_of(nan));
      CHECK(value_of<smallest, double>({inf, inf}, middle) == inf);
      CHECK(value_of<largest, double>({-inf, -inf}, middle) == -inf);
    }
    CHECK(value_of<accumulator::smallest<std::int8_t>, std::int8_t>({127}) == 127);
    CHECK(value_of<accumulator::largest<std::int8_t>, std::int8_t>({-128}) == -128);
    CHECK(value_of<accumulator::largest<std::uint32_t>, std::uint32_t>({0, 7}) == 7);
  }

  TEST_CASE("compensated sums carry every rounding error") {
    using sum = accumulator::compensated_sum<double>;
    for (std::size_t middle = 0; middle <= 4; ++middle) {
      CHECK(value_of<sum, double>({1, 0x1p60, 1, -0x1p60}, middle) == 2);
      CHECK(value_of<sum, double>({0x1p60, 3, -0x1p60, 0x1p-60}, middle) == 3);
      CHECK(bits_of(value_of<sum, double>({-0.0, -0.0, -0.0, -0.0}, middle)) == bits_of(-0.0));
      CHECK(value_of<sum, double>({1, inf, 2, 3}, middle) == inf);
      CHECK(bits_of(value_of<sum, double>({1, inf, -inf, 3}, middle)) == bits_of(nan));
    }
    CHECK(bits_of(value_of<sum, double>({})) == bits_of(0.0));
    using narrow = accumulator::compensated_sum<float>;
    CHECK(value_of<narrow, double>({0x1p30f, 1}, 1) == 0x1p30 + 1);
    CHECK(value_of<accumulator::mean_of<narrow>, double>({0x1p30f, 2}) == 0x1p29 + 1);
    CHECK(value_of<accumulator::compensated_square_sum<float>, double>({1 + 0x1p-20f}) == 1 + 0x1p-19 + 0x1p-40);
    using squares = accumulator::compensated_square_sum<double>;
    const double x = 1 + 0x1p-30;  // Its square has 61 bits.
    CHECK(value_of<squares, double>({x, 0x1p-31}) == 1 + 0x1p-29 + 0x1p-60);
    CHECK(value_of<squares, double>({0x1p30, x, 0x1p-30}, 1) == 0x1p60 + 1);
  }

  TEST_CASE("plain sums, means, products and magnitudes") {
    using sum = accumulator::plain_sum<float>;
    CHECK(bits_of(value_of<sum, float>({})) == bits_of(0.0f));
    CHECK(bits_of(value_of<sum, float>({-0.0f, -0.0f}, 1)) == bits_of(-0.0f));
    CHECK(bits_of(value_of<sum, float>({0.0f, -0.0f}, 1)) == bits_of(0.0f));
    CHECK(bits_of(value_of<sum, float>({-range<float>::quiet_NaN()})) == bits_of(range<float>::quiet_NaN()));
    CHECK(value_of<accumulator::mean_of<sum>, float>({1, 2, 4}) == static_cast<float>(7.0 / 3));
    CHECK(value_of<accumulator::plain_square_sum<float>, float>({3, -4}) == 25);
    CHECK(value_of<accumulator::plain_product<float>, float>({3, -4, 0.5f}, 1) == -6);
    CHECK(value_of<accumulator::plain_product<float>, float>({}) == 1);
    using magnitudes = accumulator::integer_sum<std::int64_t, accumulator::magnitude_term>;
    CHECK(value_of<magnitudes, std::uint64_t>({least, most}, 1) == ~std::uint64_t{0});
    CHECK_THROWS_AS((value_of<magnitudes, std::uint64_t>({least, most, -1}, 1)), overflow);
    CHECK(value_of<accumulator::plain_sum<double, accumulator::magnitude_term>, double>({-1, 2, -0.0}) == 3);
  }

  TEST_CASE_TEMPLATE("the first extremum of runs, in any order, is that of single elements", T, float, double,
                     std::int8_t, std::uint64_t) {
    using first = accumulator::first_extremum<T, true>;
    constexpr int length = 4;
    generator random(7);
    for (int round = 0; round < 2000; ++round) {
      T x[5][length];
      auto expected = first::identity(), found = first::identity();
      for (unsigned run = 0; run < 5; ++run) {
        for (T& v : x[run]) {
          v = static_cast<T>(random() % 4);
          if constexpr (floating<T>) {
            if (random() % 2 == 0) v = -v;
            if (random() % 16 == 0) v = range<T>::quiet_NaN();
          }
        }
        for (unsigned i = 0; i < length; ++i) first::add(expected, x[run][i], length * run + i);
      }
      for (const unsigned run : {3u, 0u, 4u, 1u, 2u}) first::add_run(found, x[run], length * run);
      while (!first::is_at(found, x[found.index / length][found.index % length])) ++found.index;
      CHECK(words_of(first::template finish<indexed<T>>(found, 20)) ==
            words_of(first::template finish<indexed<T>>(expected, 20)));
    }
  }

  TEST_CASE("the largest magnitude is that of the smallest element too") {
    using magnitude = accumulator::largest_magnitude<std::int64_t>;
    CHECK(value_of<magnitude, std::uint64_t>({least, most}, 1) == std::uint64_t{1} << 63);
    CHECK(value_of<magnitude, std::uint64_t>({-3, 2}) == 3);
    CHECK(value_of<accumulator::largest_magnitude<double>, double>({-3, 2}, 1) == 3);
    CHECK(value_of<accumulator::largest_magnitude<double>, double>({}) == 0);
  }
}

}  // namespace fanin::test
