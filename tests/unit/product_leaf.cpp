// SPDX-License-Identifier: Apache-2.0
// Tests the SIMD leaves of exact sums of products against additions one after the other, on every instruction set of
// this machine.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/products.hpp"
#include "tests/support/adversary.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

template <class T>
auto dot_leaf(std::span<const T> x, std::span<const T> y) {
  exact_dot_accumulator<T> sum;
  cpu::add_products(x.data(), y.data(), x.size(), sum);
  return sum;
}

template <class T>
auto words_of(const exact_dot_accumulator<T>& sum) {
  typename exact_dot_accumulator<T>::sum_type::words words;
  sum.total().to_words(words);
  return std::vector<std::uint32_t>(std::begin(words), std::end(words));
}

/// Checks that the leaves' sums of squares of x, and of products of x and y, have the same state as additions one
/// after the other.
template <class T>
void check(std::span<const T> x, std::span<const T> y) {
  exact_square_accumulator<T> squares;
  squares.add(x);
  exact_dot_accumulator<T> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.add(x[i], y[i]);
  on_every_target([&] {
    exact_square_accumulator<T> found;
    cpu::add_squares(x.data(), x.size(), found);
    CHECK(found.save() == squares.save());

    const auto dot = dot_leaf(x, y);
    CHECK(words_of(dot) == words_of(products));
    CHECK(detail::to_bits(dot.template round<T>()) == detail::to_bits(products.template round<T>()));
  });
}

template <class T>
void check(const std::vector<T>& x, const std::vector<T>& y) {
  check(std::span<const T>(x), std::span<const T>(y));
}

constexpr std::size_t lengths[] = {1, 127, 128, 135, 1024, 1151, 3001};

TEST_SUITE("unit/product_leaf") {
  TEST_CASE_TEMPLATE("adversarial factors", T, float, double) {
    std::uint64_t seed = 0;
    for (const auto& kind : adversary<T>::kinds()) {
      CAPTURE(kind.name);
      for (const std::size_t count : lengths) {
        adversary<T> random(++seed);
        const std::vector<T> x = random.make(kind, count);
        std::vector<T> y = x;
        random.shuffle(y);
        check(x, y);
        check(x, mixed_values<T>(count, seed));
      }
    }
  }

  TEST_CASE_TEMPLATE("every length, with more elements behind the last one", T, float, double) {
    const std::vector<T> x = mixed_values<T>(1100, 3), y = mixed_values<T>(1100, 4);
    for (std::size_t count = 126; count < 1050; count += count < 150 || count > 1015 ? 1 : 97) {
      CAPTURE(count);
      check(std::span<const T>(x).first(count), std::span<const T>(y).first(count));
    }
  }

  TEST_CASE("products on both sides of what a double and its error can hold") {
    constexpr int edges[] = {-968, -1022, 1023};
    std::uint64_t seed = 0;
    for (const int edge : edges) {
      for (int offset = -3; offset <= 3; ++offset) {
        for (const int of_x : {0, -700, -1060, edge / 2}) {
          CAPTURE(edge + offset);
          CAPTURE(of_x);
          const int of_y = edge + offset - of_x;
          if (of_y < -1074 || of_y > 1023) continue;
          adversary<double> random(++seed);
          std::vector<double> x = mixed_values<double>(1500, 7), y = mixed_values<double>(1500, 8);
          for (std::size_t i = 3; i < x.size(); i += 50) {  // Significands with all bits set.
            x[i] = std::ldexp(2 - std::abs(std::remainder(random.number(1023), 1.0)), of_x);
            y[i] = -std::ldexp(2 - std::abs(std::remainder(random.number(1023), 1.0)), of_y);
          }
          check(x, y);
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("zeros of both signs, alone and among others", T, float, double) {
    std::vector<T> x(2000, T{0}), y(2000, T{-1});
    check(x, y);  // All products are -0.
    CHECK(std::signbit(dot_leaf(std::span<const T>(x), std::span<const T>(y)).template round<T>()));
    x[1999] = -T{0};
    check(x, y);
    x[77] = std::numeric_limits<T>::denorm_min();
    check(x, y);
    y[500] = std::numeric_limits<T>::infinity();  // The product is 0 times infinity.
    check(x, y);
  }
}

}  // namespace
}  // namespace fanin::test
