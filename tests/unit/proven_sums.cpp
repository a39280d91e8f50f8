// SPDX-License-Identifier: Apache-2.0
// Tests the sums in double that exception flags prove exact, at the edges of what they hold, against additions one
// after the other, on every instruction set of this machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include <fanin/fanin.hpp>

#include "backends/cpu/accumulator_loops.hpp"
#include "backends/cpu/exact.hpp"
#include "backends/cpu/exception_flags.hpp"
#include "backends/cpu/products.hpp"
#include "backends/cpu/proven.hpp"
#include "tests/support/adversary.hpp"
#include "tests/support/call.hpp"
#include "tests/support/guarded_memory.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

/// The sum without an exact accumulator, or NaN.
template <class T>
double short_sum(const std::vector<T>& x) {
  const detail::operands run{x.data()};
  const std::size_t count = x.size();
  double total = 0;
  cpu::sum_short_exactly<T>(&run, &count, 1, &total);
  return total;
}

/// Checks the sums of x, of its magnitudes, of its squares and of its products with itself backwards.
template <class T>
void check(const std::vector<T>& x) {
  const std::vector<T> y(x.rbegin(), x.rend());
  exact_moments_accumulator<T> expected;
  for (const T v : x) expected.add(v);
  exact_accumulator<T> magnitudes;
  for (const T v : x) magnitudes.add(std::abs(v));
  exact_dot_accumulator<T> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.add(x[i], y[i]);
  on_every_target([&] {
    exact_accumulator<T> sum;
    cpu::add_exact(x.data(), x.size(), sum);
    CHECK(sum.save() == expected.sum.save());
    const double total = short_sum(x);
    CHECK((std::isnan(total) || bits_of(total) == bits_of(expected.sum.template round<double>())));
    exact_accumulator<T> sum_of_magnitudes;
    cpu::add_exact_magnitudes(x.data(), x.size(), sum_of_magnitudes);
    CHECK(sum_of_magnitudes.save() == magnitudes.save());
    exact_square_accumulator<T> squares;
    cpu::add_squares(x.data(), x.size(), squares);
    CHECK(squares.save() == expected.squares.save());
    exact_dot_accumulator<T> dot;
    cpu::add_products(x.data(), y.data(), x.size(), dot);
    CHECK(bits_of(dot.template round<T>()) == bits_of(products.template round<T>()));
    CHECK(bits_of(dot.template round<double>()) == bits_of(products.template round<double>()));
    exact_moments_accumulator<T> both;
    cpu::add_moments(x.data(), x.size(), both);
    CHECK(bits_of(both.sum.template round<double>()) == bits_of(expected.sum.template round<double>()));
    CHECK(both.squares.save() == expected.squares.save());
  });
}

/// Numbers with all bits set. One in `rare` numbers is `below` binades lower.
template <class T>
std::vector<T> far_apart(std::size_t count, int top, int below, std::size_t rare, bool signs, generator& random) {
  std::vector<T> x(count);
  for (T& v : x) {
    v = std::ldexp(2 - std::numeric_limits<T>::epsilon(), top - (random() % rare == 0 ? below : 0));
    if (signs && random() % 2 == 0) v = -v;
  }
  return x;
}

TEST_SUITE("unit/proven_sums") {
  TEST_CASE_TEMPLATE("binades between the elements, up to more than sums in double hold", T, float, double) {
    generator random(1);
    for (const std::size_t count : {40, 511, 512, 4096, 8192}) {
      for (int below = 0; below<110; below += count> 600 ? 3 : 1) {
        CAPTURE(count);
        CAPTURE(below);
        for (const bool signs : {false, true}) check(far_apart<T>(count, 20, below, 9, signs, random));
      }
    }
  }

  TEST_CASE_TEMPLATE("one element apart from a tile of others", T, float, double) {
    generator random(2);
    constexpr std::size_t tile = cpu::proven_tile<T>;
    std::vector<T> x(2 * tile + 37);
    for (T& v : x) v = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.25);
    constexpr T special[] = {std::numeric_limits<T>::infinity(),  std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::max(),       std::numeric_limits<T>::denorm_min(),
                             -std::numeric_limits<T>::infinity(), T{0x1p60},
                             std::numeric_limits<T>::min(),       T{0x1p-60}};
    for (const std::size_t at : {std::size_t{0}, tile - 1, tile, 2 * tile + 36, tile + 1000}) {
      for (const T value : special) {
        CAPTURE(at);
        CAPTURE(value);
        std::vector<T> changed = x;
        changed[at] = value;
        check(changed);
      }
    }
  }

  TEST_CASE_TEMPLATE("the first elements say little of the rest", T, float, double) {
    for (const double first : {0.0, 0x1p-100, 0x1p100}) {
      std::vector<T> x(5000, T{3});
      std::fill_n(x.begin(), 40, static_cast<T>(first));
      check(x);
    }
    check(std::vector<T>(5000, std::numeric_limits<T>::max()));
    check(std::vector<T>(5000, std::numeric_limits<T>::denorm_min()));
    check(std::vector<T>(5000, T{0}));
    check(std::vector<T>(5000, -T{0}));
  }

  TEST_CASE_TEMPLATE("equal numbers, some of them apart from the others by what sums in double hold", T, float,
                     double) {
    adversary<T> random(4);
    const auto significand = [&] { return std::abs(random.number(std::numeric_limits<T>::max_exponent - 1)); };
    for (int trial = 0; trial < 40; ++trial) {
      const T usual = significand();
      for (const int first : {-3, 0}) {
        for (int below = 8; below < 24; ++below) {
          // The last row of vectors is not there, so that an element of a vector adds 2^k - 1 numbers.
          std::vector<T> x(cpu::bounded_tile<T> - 16, usual);
          for (std::size_t i = 0; i < 40; ++i) x[i] = std::ldexp(usual, first);
          for (std::size_t i = 40; i < x.size(); i += 41) x[i] = std::ldexp(significand(), -below);
          check(x);
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("a tile of the largest sum", T, float, double) {
    for (const T v : {2 - std::numeric_limits<T>::epsilon(), T{1}, T{1.5}}) {
      for (const std::size_t count : {cpu::proven_tile<T>, cpu::bounded_tile<T>}) {
        for (const T sign : {T{1}, T{-1}}) check(std::vector<T>(count, sign * v));
      }
    }
  }

  TEST_CASE_TEMPLATE("tiles of zeros touch nothing behind the sums", T, float, double) {
    std::vector<T> x(2 * cpu::proven_tile<T> + 1, T{0});
    x.back() = 1;
    using state = exact_moments_accumulator<T>;
    const guarded_memory memory(sizeof(state));
    on_every_target([&] {
      auto& both = *::new (memory.end() - sizeof(state)) state;
      cpu::add_moments(x.data(), x.size(), both);
      CHECK(both.sum.template round<T>() == 1);
      auto& sum = *::new (memory.end() - sizeof(exact_accumulator<T>)) exact_accumulator<T>;
      cpu::add_exact(x.data(), x.size(), sum);
      CHECK(sum.template round<T>() == 1);
    });
  }

  TEST_CASE_TEMPLATE("every length", T, float, double) {
    generator random(3);
    for (std::size_t count = 0; count < 140; ++count) check(far_apart<T>(count, -7, 12, 4, true, random));
  }

  TEST_CASE_TEMPLATE("near numbers need no exact accumulator", T, float, double) {
    generator random(5);
    for (const std::size_t count : {std::size_t{1}, std::size_t{128}, std::size_t{129}, std::size_t{1000},
                                    cpu::proven_tile<T> - 1, cpu::proven_tile<T>, cpu::proven_tile<T> + 1}) {
      CAPTURE(count);
      const std::vector<T> x = far_apart<T>(count, -7, 9, 4, true, random);
      const bool is_summed = count <= 128 || (cpu::sets_inexact() && count <= cpu::proven_tile<T>);
      on_every_target([&] {
        CHECK(std::isnan(short_sum(x)) == !is_summed);
        exact_accumulator<T> sum;
        CHECK((cpu::add_magnitude_tile(x.data(), std::min(count, cpu::proven_tile<T>), sum) || !cpu::sets_inexact()));
      });
    }
  }

  TEST_CASE_TEMPLATE("zeros of either sign, among many", T, float, double) {
    for (const std::size_t count : {128, 129, 4000}) {
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        for (const T other : {T{0}, -T{0}, T{3}}) {
          std::vector<T> x(count, -T{0});
          x[at] = other;
          check(x);
          const T sum = fanin::sum(x).value;
          CHECK(bits_of(sum) == bits_of(other));
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("the caller's exception flags stay", T, float, double) {
    std::vector<T> x(1000, T{0.1f});
    x[500] = std::numeric_limits<T>::infinity();
    x[501] = -x[500];
    on_every_target([&] {
      for (const int raised : {0, FE_INEXACT, FE_OVERFLOW | FE_INVALID}) {
        std::feclearexcept(FE_ALL_EXCEPT);
        std::feraiseexcept(raised);
        const int before = std::fetestexcept(FE_ALL_EXCEPT);
        exact_accumulator<T> sum;
        cpu::add_exact(x.data(), x.size(), sum);
        exact_moments_accumulator<T> both;
        cpu::add_moments(x.data(), x.size(), both);
        CHECK(std::isnan(short_sum(x)));
        CHECK((std::fetestexcept(FE_ALL_EXCEPT) & before) == before);
      }
    });
    std::feclearexcept(FE_ALL_EXCEPT);
  }
}

}  // namespace
}  // namespace fanin::test
