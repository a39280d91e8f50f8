// SPDX-License-Identifier: Apache-2.0
// Tests the SIMD leaf of the exact sum against additions one after the other, on every instruction set of this
// machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <fanin/accumulator/exact.hpp>

#include "backends/cpu/accumulator_loops.hpp"
#include "backends/cpu/exact.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace {

using fanin::test::generator;
using fanin::test::on_every_target;
using fanin::test::random_bits;
using fanin::test::random_finite;

template <class T>
auto one_by_one(std::span<const T> x) {
  fanin::exact_accumulator<T> sum;
  sum.add(x);
  return sum;
}

template <class T>
auto leaf(std::span<const T> x) {
  fanin::exact_accumulator<T> sum;
  fanin::cpu::add_exact(x.data(), x.size(), sum);
  return sum;
}

/// Checks the sum of the elements, and the sum of their magnitudes.
template <class T>
void check(std::span<const T> x) {
  const auto expected = one_by_one(x).save();
  fanin::exact_accumulator<T> of_magnitudes;
  for (const T v : x) of_magnitudes.add(std::abs(v));
  on_every_target([&] {
    CHECK(leaf(x).save() == expected);
    fanin::exact_accumulator<T> sum;
    fanin::cpu::add_exact_magnitudes(x.data(), x.size(), sum);
    CHECK(sum.save() == of_magnitudes.save());
  });
}

template <class T, class Make>
std::vector<T> fill(std::size_t count, Make make) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(make(i));
  return x;
}

constexpr std::size_t tile = 4032;
constexpr std::size_t longest_by_digits = 64 * tile;

}  // namespace

TEST_SUITE_BEGIN("unit/exact_leaf");

TEST_CASE_TEMPLATE("every kind of data", T, float, double) {
  constexpr int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  constexpr int high = std::numeric_limits<T>::max_exponent;
  const T max = std::numeric_limits<T>::max();
  generator random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::normal_distribution<double> normal;
  const auto power = [&](int from, int to) {
    return std::ldexp(static_cast<T>(uniform(random)),
                      from + static_cast<int>(random() % static_cast<unsigned>(to - from)));
  };
  const std::size_t n = 5 * tile + 3;
  const auto run = [&](const char* name, auto make) {
    CAPTURE(name);
    check<T>(fill<T>(n, make));
  };
  run("uniform", [&](std::size_t) { return uniform(random); });
  run("normal", [&](std::size_t) { return normal(random); });
  run("integers", [&](std::size_t i) { return static_cast<double>(i); });
  run("lognormal", [&](std::size_t) { return std::exp(10 * normal(random)); });
  run("100 binades", [&](std::size_t) { return power(low / 2, low / 2 + 100); });
  run("150 binades", [&](std::size_t) { return power(-20, 120); });
  for (const int binades : {200, 240, 280}) {
    run("windows of 5 and 6 levels, and more",
        [&](std::size_t) { return power(low / 2, std::min(low / 2 + binades, high)); });
  }
  run("few digits of many binades", [&](std::size_t) { return std::ldexp(1.0, static_cast<int>(random() % 100)); });
  run("full range", [&](std::size_t) { return random_finite<T>(random); });
  run("any bits", [&](std::size_t) { return random_bits<T>(random); });
  run("zeros", [&](std::size_t i) { return i % 2 == 0 ? 0.0 : -0.0; });
  run("minus zeros", [&](std::size_t) { return -0.0; });
  run("minus zeros and a number", [&](std::size_t i) { return i == n - 2 ? 5.0 : -0.0; });
  run("minus zeros and a last number", [&](std::size_t i) { return i == n - 1 ? 5.0 : -0.0; });
  run("subnormals", [&](std::size_t) { return power(low + 1, std::numeric_limits<T>::min_exponent); });
  run("smallest subnormals", [&](std::size_t i) { return i % 3 == 0 ? 0 : std::ldexp(T{1}, low); });
  run("across the bottom", [&](std::size_t) { return power(low, low + 90); });
  run("near overflow", [&](std::size_t i) { return i % 5 == 0 ? -max : max; });
  for (int top = high - 6; top <= high; ++top) {
    run("just below a power", [&](std::size_t) { return max / std::ldexp(T{1}, high - top); });
    run("top binades", [&](std::size_t i) { return std::ldexp(i % 2 == 0 ? T(1.9) : T(-1.8), top - 1); });
  }
  run("growing", [&](std::size_t i) { return std::ldexp(uniform(random), static_cast<int>(i / 200)); });
  run("falling", [&](std::size_t i) { return std::ldexp(uniform(random), -static_cast<int>(i / 200)); });
  run("one in a tile", [&](std::size_t i) { return i % tile == 17 ? uniform(random) : 0.0; });
  run("outliers", [&](std::size_t i) { return i % 1000 == 7 ? std::ldexp(1.0, i % 3 == 0 ? low : high - 1) : 1.0; });
  for (const T special : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{70}, 2 * tile + 1, n - 1}) {
      run("special in tame data", [&](std::size_t i) { return i == at ? special : static_cast<T>(uniform(random)); });
      run("special in large data", [&](std::size_t i) { return i == at ? special : std::ldexp(T(1.25), high - 4); });
      run("special in wild data", [&](std::size_t i) { return i == at ? special : random_finite<T>(random); });
    }
  }
}

TEST_CASE_TEMPLATE("every exponent", T, float, double) {
  constexpr int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  constexpr int high = std::numeric_limits<T>::max_exponent;
  generator random(2);
  for (int exponent = low; exponent < high; ++exponent) {
    CAPTURE(exponent);
    check<T>(fill<T>(100, [&](std::size_t) {
      const T v = std::ldexp(T(1) + std::ldexp(static_cast<T>(random() >> 40), -24), exponent);
      return random() % 2 == 0 ? -v : (std::isfinite(v) ? v : T{1});
    }));
  }
}

TEST_CASE_TEMPLATE("leaving the window to either side", T, float, double) {
  // The tiles after the first use the window of the first tile. -3 * 2^e changes the sign of 1.5 * 2^e but not its
  // exponent.
  for (int up = 0; up < 24; ++up) {
    for (const double factor : {-3.4, -3.0, -2.6, -1.4, 1.4, 2.6, 3.4}) {
      CAPTURE(up);
      CAPTURE(factor);
      check<T>(fill<T>(6 * tile, [&](std::size_t i) {
        return i == 3 * tile + 100 ? factor * std::ldexp(1.0, up) : 0.75 + 1e-3 * static_cast<double>(i % 97);
      }));
    }
  }
}

TEST_CASE_TEMPLATE("every size and start", T, float, double) {
  generator random(3);
  std::normal_distribution<double> normal;
  const auto tame = fill<T>(2 * tile + 80, [&](std::size_t) { return normal(random); });
  const auto wild = fill<T>(2 * tile + 80, [&](std::size_t) { return random_finite<T>(random); });
  for (const auto* data : {&tame, &wild}) {
    const std::span<const T> all(*data);
    for (std::size_t size = 0; size <= 130; ++size) check<T>(all.subspan(size % 9, size));
    for (const std::size_t edge : {tile, 2 * tile}) {
      for (std::size_t size = edge - 3; size <= edge + 3; ++size) check<T>(all.subspan(size % 7, size));
      check<T>(all.subspan(1, edge + 70));
    }
  }
}

TEST_CASE_TEMPLATE("long and changing data", T, float, double) {
  generator random(4);
  std::normal_distribution<double> normal;
  const auto x = fill<T>(longest_by_digits + 70 * tile + 11, [&](std::size_t i) {
    const std::size_t phase = i / (5 * tile);
    if (phase % 4 == 3) return random_finite<T>(random);
    return static_cast<T>(std::ldexp(normal(random), static_cast<int>(phase % 8) * 3));
  });
  check<T>(x);
  const auto largest = fill<T>(longest_by_digits + 1, [&](std::size_t i) {
    return i == 0 ? std::numeric_limits<T>::max() : -std::numeric_limits<T>::max();
  });
  check<T>(largest);
}

TEST_CASE("sums in double, up to the last digit of a double and beyond it") {
  // Each double of a vector sums 2^k - 1 elements or 2^k. With a few elements d binades below the others, the sums
  // have k + 24 + d digits: 53 just fit.
  generator random(5);
  for (const std::size_t sums : {8, 16, 32}) {  // side by side in vectors of 16, 32 and 64 bytes
    for (int k = 2; k <= 8; ++k) {
      for (int below = 53 - 24 - k - 1; below <= 53 - 24 - k + 1; ++below) {
        for (const std::size_t count : {sums << k, (sums << k) - sums, (sums << k) + sums - 1}) {
          if (count < 64 || count >= 2 * tile) continue;
          CAPTURE(count);
          CAPTURE(below);
          const float small = std::ldexp(1 - 0x1p-24f, 10 - below);
          check<float>(fill<float>(count, [&](std::size_t) { return random() % 16 == 0 ? small : 0x1.fffffep9f; }));
          check<float>(fill<float>(count, [&](std::size_t) { return random() % 16 == 0 ? -small : -0x1.fffffep9f; }));
        }
      }
    }
  }
}

TEST_CASE("positive numbers with all bits set, some of them 19 to 22 binades lower") {
  generator random(6);
  for (int input = 0; input < 400; ++input) {
    const int below = 19 + input % 4, top = static_cast<int>(random() % 200) - 100;
    const auto x = fill<float>(3000 + random() % 9000, [&](std::size_t) {
      return std::ldexp(1 - 0x1p-24f, top - (random() % 16 == 0 ? below : 0));
    });
    check<float>(x);
  }
}

TEST_CASE_TEMPLATE("tiles full of the largest elements that a window holds", T, float, double) {
  // The first tile chooses a window of exponent e with room for larger elements. |v| = 2^(e-1) is the largest that
  // the window holds, and then the sum of a tile is close to 2^63 units. For f32 the smallest elements of the first
  // tile are too small for sums in double.
  const double least = sizeof(T) == 4 ? 0x1p-40 : 0x1p-8;
  for (int up = 1; up < 14; ++up) {
    const auto power = std::ldexp(T{1}, up);
    for (const T largest : {power, std::nextafter(power, T{0}), T(1.25) * power, T(1.5) * power, T(1.875) * power}) {
      for (const T sign : {T{1}, T{-1}}) {
        CAPTURE(sign * largest);
        check<T>(fill<T>(5 * tile, [&](std::size_t i) {
          return i < tile ? (i % 2 == 0 ? 1 : least) : static_cast<double>(sign * largest);
        }));
      }
    }
  }
}

TEST_CASE_TEMPLATE("a tile of NaN behind the largest tile that a window holds", T, float, double) {
  // The NaN has the exponent that follows the exponents of windows, and the fraction of the constant M.
  for (int exponent = std::numeric_limits<T>::max_exponent - 14; exponent < std::numeric_limits<T>::max_exponent;
       ++exponent) {
    CAPTURE(exponent);
    check<T>(fill<T>(2 * tile, [&](std::size_t i) {
      return i < tile ? std::ldexp(T{1}, exponent) : std::numeric_limits<T>::quiet_NaN();
    }));
  }
}

TEST_CASE_TEMPLATE("more elements of each exponent than a table of digits can add, beside a NaN", T, float, double) {
  // No window holds the NaN, so that these elements are added by digits. Their mantissas are the largest.
  constexpr int low = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  for (int exponent = low; exponent < std::numeric_limits<T>::max_exponent; ++exponent) {
    const T large = std::ldexp(2 - std::numeric_limits<T>::epsilon(), exponent);
    for (const T v : {large, -large}) {
      CAPTURE(v);
      std::vector<T> x(tile + 170, v);
      x[0] = std::numeric_limits<T>::quiet_NaN();
      check<T>(x);
    }
  }
}

TEST_CASE_TEMPLATE("adds to what is there", T, float, double) {
  const auto x = fill<T>(1000, [](std::size_t i) { return static_cast<double>(i) - 0.5; });
  const fanin::exact_accumulator<T> sum = one_by_one<T>(x);
  const auto half = static_cast<std::ptrdiff_t>(x.size() / 2);
  fanin::exact_accumulator<T> parts = one_by_one(std::span<const T>(x.begin(), x.begin() + half));
  fanin::cpu::add_exact(x.data() + half, x.size() - static_cast<std::size_t>(half), parts);
  CHECK(parts.save() == sum.save());
}

TEST_SUITE_END();
