// SPDX-License-Identifier: Apache-2.0
// Tests the SIMD folds of integers against additions and multiplications one after the other, on every instruction
// set of this machine.
#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fanin/recipe.hpp>

#include "backends/cpu/integers.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

namespace acc = accumulator;

/// The state of A that holds `before` and then x, one element after the other.
template <class A>
typename A::state one_by_one(std::span<const typename A::element> before,
                             std::span<const typename A::element> x = {}) {
  auto s = A::identity();
  for (const auto& part : {before, x}) {
    for (const auto v : part) A::add(s, v);
  }
  return s;
}

/// Checks the additive folds of x after `before` was folded.
template <class T>
void check_sums(std::span<const T> before, std::span<const T> x) {
  CAPTURE(x.size());
  const auto sum = one_by_one<acc::integer_sum<T>>(before, x);
  const auto magnitudes = one_by_one<acc::integer_sum<T, acc::magnitude_term>>(before, x);
  const auto squares = one_by_one<acc::integer_square_sum<T>>(before, x);
  const auto moments = one_by_one<acc::integer_dispersion<T>>(before, x);
  auto found_sum = one_by_one<acc::integer_sum<T>>(before);
  auto found_magnitudes = one_by_one<acc::integer_sum<T, acc::magnitude_term>>(before);
  auto found_squares = one_by_one<acc::integer_square_sum<T>>(before);
  auto found_moments = one_by_one<acc::integer_dispersion<T>>(before);
  cpu::add_integers<T, false>(x.data(), x.size(), found_sum);
  cpu::add_integers<T, true>(x.data(), x.size(), found_magnitudes);
  cpu::add_integer_squares<T>(x.data(), x.size(), found_squares);
  cpu::add_integer_moments<T>(x.data(), x.size(), found_moments);
  CHECK((found_sum == sum));
  CHECK((found_magnitudes == magnitudes));
  CHECK((found_squares == squares));
  CHECK((found_moments.sum == moments.sum));
  CHECK((found_moments.squares == moments.squares));
  CHECK(found_moments.squares_high == moments.squares_high);
}

/// The sign of a product that is too large is not seen.
void check_same(const acc::integer_product_state& found, const acc::integer_product_state& expected) {
  CHECK(found.too_large == expected.too_large);
  if (found.too_large) return;
  CHECK(found.magnitude == expected.magnitude);
  CHECK(found.negative == expected.negative);
}

template <class T>
void check_product(std::span<const T> before, std::span<const T> x) {
  CAPTURE(x.size());
  auto found = one_by_one<acc::integer_product<T>>(before);
  cpu::multiply_integers<T>(x.data(), x.size(), found);
  check_same(found, one_by_one<acc::integer_product<T>>(before, x));
}

template <class T>
constexpr T least = std::numeric_limits<T>::min();
template <class T>
constexpr T most = std::numeric_limits<T>::max();

/// Arrays of every kind of element: random ones, the extremes alone and in turns, and elements of few bits.
template <class T>
std::vector<std::vector<T>> adversarial(std::size_t count) {
  std::mt19937_64 random(count);
  std::vector<std::vector<T>> all(6, std::vector<T>(count));
  for (std::size_t i = 0; i < count; ++i) {
    all[0][i] = static_cast<T>(random());
    all[1][i] = least<T>;
    all[2][i] = most<T>;
    all[3][i] = random() % 2 == 0 ? least<T> : most<T>;
    all[4][i] = static_cast<T>(most<T> >> (random() % (8 * sizeof(T))));
    all[5][i] = static_cast<T>(i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : -1);
  }
  return all;
}

#define FANIN_INTEGERS \
  std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t

TEST_SUITE("unit/integer_leaf") {
  TEST_CASE_TEMPLATE("sums of every length from every place", T, FANIN_INTEGERS) {
    constexpr std::size_t longest = 640 / sizeof(T) + 2;
    for (const std::vector<T>& x : adversarial<T>(longest + 64)) {
      on_every_target([&] {
        for (std::size_t count = 0; count <= longest; ++count) {
          const std::size_t offset = count * 7 % 64;
          check_sums<T>({}, std::span(x).subspan(offset, count));
        }
      });
    }
  }

  // Sums of 32 bits are emptied after 4096 vectors, elements of 16 bits are read twice in blocks of 16 KiB, and
  // input of 5 * 2^18 bytes is prefetched.
  TEST_CASE_TEMPLATE("sums of long arrays", T, FANIN_INTEGERS) {
    for (const std::vector<T>& x : adversarial<T>((std::size_t{11} << 17) / sizeof(T) + 3)) {
      on_every_target([&] { check_sums<T>({}, std::span(x).subspan(1)); });
    }
  }

  TEST_CASE_TEMPLATE("sums of squares beyond 2^127 and 2^128", T, std::int64_t, std::uint64_t) {
    for (const T v : {least<T>, most<T>, static_cast<T>(most<T> / 2 + 1), static_cast<T>(T{1} << 32)}) {
      const std::vector<T> before(3, most<T>), x(130, v);
      on_every_target([&] {
        for (std::size_t count = 0; count <= x.size(); ++count) {
          check_sums<T>({}, std::span(x).first(count));
          check_sums<T>(before, std::span(x).first(count));
        }
      });
    }
  }

  // The squares of the upper halves add up to 2^64 - 166830, and the rest to about 2^97, which carries to 2^128.
  TEST_CASE("parts of squares that reach 2^128 together") {
    std::vector<std::uint64_t> x(130);
    x[3] = most<std::uint64_t>;
    x[70] = std::uint64_t{92681} << 32;
    on_every_target([&] { check_sums<std::uint64_t>({}, x); });
  }

  TEST_CASE_TEMPLATE("products of units and one other element", T, FANIN_INTEGERS) {
    constexpr std::size_t longest = 320 / sizeof(T) + 2;
    const std::vector<T> others = {0, 2, 3, most<T>, least<T>, static_cast<T>(-2)};
    std::mt19937_64 random(1);
    std::vector<T> units(longest);
    for (T& v : units) v = random() % 2 == 0 ? T{1} : std::is_signed_v<T> ? static_cast<T>(-1) : T{1};
    on_every_target([&] {
      for (std::size_t count = 0; count <= longest; ++count) {
        check_product<T>({}, std::span<const T>(units).first(count));
        for (const T other : others) {
          if (count == 0) continue;
          std::vector<T> x = units;
          for (const std::size_t place : {count * 5 % 11 % count, count / 2, count - 1}) x[place] = other;
          check_product<T>({}, std::span<const T>(x).first(count));
        }
      }
    });
  }

  TEST_CASE_TEMPLATE("a product overflows, and a zero undoes it, wherever it stands", T, FANIN_INTEGERS) {
    const std::vector<T> full(64, T{2}), zero = {0};
    std::vector<T> x((std::size_t{5} << 15) / sizeof(T), T{1});
    on_every_target([&] {
      for (const std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{70}, 65536 / sizeof(T) - 1,
                                      65536 / sizeof(T), x.size() - 1}) {
        x[place] = 0;
        check_product<T>({}, x);
        check_product<T>(full, x);
        check_product<T>(zero, x);
        x[place] = 3;
        check_product<T>({}, x);
        check_product<T>(full, x);
        check_product<T>(zero, x);
        check_product<T>(std::span(full).first(62), x);
        x[place] = 1;
      }
    });
  }

  TEST_CASE_TEMPLATE("products of random elements", T, FANIN_INTEGERS) {
    for (const std::vector<T>& x : adversarial<T>(500)) {
      on_every_target([&] {
        for (std::size_t count = 0; count <= x.size(); count += 3) check_product<T>({}, std::span(x).first(count));
      });
    }
    const std::vector<T> twos(64, T{2});
    for (std::size_t count = 0; count <= twos.size(); ++count) check_product<T>({}, std::span(twos).first(count));
  }
}

}  // namespace
}  // namespace fanin::test
