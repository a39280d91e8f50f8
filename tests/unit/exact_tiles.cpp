// SPDX-License-Identifier: Apache-2.0
// Tests exact sums of floats of 16 bits and of their magnitudes, tile by tile, against additions one after the other,
// on every instruction set of this machine. exact_leaf.cpp and proven_sums.cpp test magnitudes of floats and doubles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "backends/cpu/exact.hpp"
#include "backends/cpu/proven.hpp"
#include "backends/recipe_functions.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t tile = cpu::proven_tile<f16>;
static_assert(tile == cpu::proven_tile<bf16>);

template <class T>
auto sum_by(operation what, const std::vector<T>& x) {
  exact_accumulator<float> sum;
  find_functions(what, type_of<T>, method::exact)->arithmetic.accumulate({x.data()}, x.size(), &sum);
  return sum.save();
}

/// Checks the sum of the elements, and the sum of their magnitudes.
template <class T>
void expect_exact_tile(const std::vector<T>& x) {
  exact_accumulator<float> sum, of_magnitudes;
  for (const T v : x) {
    sum.add(v);
    of_magnitudes.add(std::abs(static_cast<float>(v)));
  }
  on_every_target([&] {
    CHECK(sum_by(operation::sum, x) == sum.save());
    CHECK(sum_by(operation::sum_of_magnitudes, x) == of_magnitudes.save());
  });
}

template <class T>
std::vector<T> normal_numbers(std::size_t count, generator& random) {
  std::vector<T> x(count);
  std::normal_distribution<float> normal;
  for (T& v : x) v = T(normal(random));
  return x;
}

TEST_SUITE("unit/exact_tiles") {
  TEST_CASE_TEMPLATE("lengths around vectors and tiles", T, f16, bf16) {
    generator random(1);
    std::vector<std::size_t> lengths{tile - 1, tile, tile + 1, tile + 512, 2 * tile + 511, 3 * tile + 37};
    for (std::size_t count = 0; count < 70; ++count) lengths.push_back(count);
    for (std::size_t count = 500; count < 650; ++count) lengths.push_back(count);
    for (const std::size_t count : lengths) {
      CAPTURE(count);
      expect_exact_tile(normal_numbers<T>(count, random));
    }
  }

  TEST_CASE_TEMPLATE("AVX-512 adds near numbers as they are", T, f16, bf16) {
    generator random(2);
    const std::vector<T> x = normal_numbers<T>(tile, random);
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      const only_target chosen(target);
      for (const bool magnitudes : {false, true}) {
        exact_accumulator<float> sum;
        CHECK(cpu::add_narrow_tile(x.data(), tile, magnitudes, sum) == (HWY_ARCH_X86 && target <= HWY_AVX3));
      }
    }
  }

  TEST_CASE_TEMPLATE("one or two elements apart from the others", T, f16, bf16) {
    generator random(3);
    using limits = std::numeric_limits<T>;
    const std::vector<T> x = normal_numbers<T>(2 * tile + 37, random);
    const T negative_zero = T::of_bits(T::sign_bit);
    for (const std::size_t at : {std::size_t{0}, tile - 1, tile, tile + 1000, 2 * tile + 36}) {
      for (const T value : {limits::infinity(), limits::quiet_NaN(), limits::max(), limits::lowest(), limits::min(),
                            limits::denorm_min(), negative_zero, T(-HUGE_VALF)}) {
        CAPTURE(at);
        CAPTURE(value.bits);
        std::vector<T> changed = x;
        changed[at] = value;
        expect_exact_tile(changed);
        changed[at / 2 + 3] = T(-static_cast<float>(value));
        expect_exact_tile(changed);
      }
    }
  }

  TEST_CASE_TEMPLATE("zeros of both signs", T, f16, bf16) {
    const T zero = T(0.0f), negative_zero = T(-0.0f), one = T(1.0f);
    for (const std::size_t count : {std::size_t{1}, std::size_t{512}, tile, 2 * tile + 600}) {
      for (const T first : {zero, negative_zero}) {
        for (const T other : {zero, negative_zero}) {
          std::vector<T> x(count, other);
          x[0] = first;
          expect_exact_tile(x);
          x.back() = one;
          expect_exact_tile(x);
          x[0] = T(-1.0f);
          expect_exact_tile(x);
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("tiles of the largest sum, and a start that says little of the rest", T, f16, bf16) {
    const float almost_two = T::of_bits(T(2.0f).bits - 1u), largest = std::numeric_limits<T>::max();
    for (const float v : {1.0f, 1.5f, almost_two, 0x1p-14f * almost_two, largest}) {
      for (const float sign : {1.0f, -1.0f}) {
        std::vector<T> x(tile + 100, T(sign * v));
        expect_exact_tile(x);
        for (const float start : {0.0f, 0x1p-24f, 0x1p-10f, 1024.0f}) {
          std::fill_n(x.begin(), 70, T(start));
          expect_exact_tile(x);
        }
      }
    }
  }

  TEST_CASE_TEMPLATE("binades between the elements, up to more than two floats hold", T, f16, bf16) {
    generator random(4);
    for (const bool signs : {false, true}) {
      for (int below = 0; below < 44; ++below) {
        CAPTURE(below);
        std::vector<T> x(tile);
        for (T& v : x) {
          const int exponent = 15 - (random() % 9 == 0 ? below : 0);
          v = T(std::ldexp(2 - static_cast<float>(std::numeric_limits<T>::epsilon()), exponent));
          if (signs && random() % 2 == 0) v = T(-static_cast<float>(v));
        }
        expect_exact_tile(x);
      }
    }
  }

  TEST_CASE_TEMPLATE("random bits, and random finite bits", T, f16, bf16) {
    generator random(5);
    std::vector<T> x(3 * tile + 99);
    for (T& v : x) v = random_bits<T>(random);
    expect_exact_tile(x);
    for (T& v : x) {
      do v = random_bits<T>(random);
      while (!std::isfinite(static_cast<float>(v)));
    }
    expect_exact_tile(x);
  }

  TEST_CASE_TEMPLATE("sums, means and sums of magnitudes of segments", T, f16, bf16) {
    generator random(6);
    std::vector<T> x;
    std::vector<std::int64_t> offsets{0};
    const T special[] = {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(), T(-HUGE_VALF)};
    const int kinds = 6;
    for (int segment = 0; segment < 64 * 2 * kinds; ++segment) {
      const std::size_t count = segment % 7 == 0 ? random() % 700 : random() % 40 + 1, begin = x.size();
      const int kind = segment / 64 % kinds;  // runs of one call have one kind, and then any
      for (std::size_t i = 0; i < count; ++i) {
        switch (segment < 64 * kinds ? kind : static_cast<int>(random() % kinds)) {
          case 0:
            x.push_back(normal_numbers<T>(1, random)[0]);
            break;
          case 1:
            x.push_back(T::of_bits(random() % 2 * T::sign_bit));
            break;
          case 2:
            x.push_back(T::of_bits(T::sign_bit));
            break;
          case 3:
            x.push_back(random_bits<T>(random));
            break;
          case 4:
            x.push_back(T(i == 0 ? 1.0f : i == 1 ? 0x1p-24f : 0.0f));
            break;
          default:
            x.push_back(std::numeric_limits<T>::max());
        }
      }
      if (kind == 0 && segment % 5 == 0 && count > 0) x[begin + random() % count] = special[segment % 3];
      offsets.push_back(static_cast<std::int64_t>(x.size()));
    }
    const std::size_t segments_count = offsets.size() - 1;
    const auto check_results = [&]<class R>(R) {
      for (const operation what : {operation::sum, operation::mean, operation::sum_of_magnitudes}) {
        std::vector<R> expected(segments_count), found(segments_count);
        for (std::size_t i = 0; i < segments_count; ++i) {
          exact_accumulator<float> sum;
          for (auto k = offsets[i]; k < offsets[i + 1]; ++k) {
            const float v = x[static_cast<std::size_t>(k)];
            sum.add(what == operation::sum_of_magnitudes ? std::abs(v) : v);
          }
          expected[i] = what != operation::mean ? sum.round<R>()
                        : sum.count() > 0       ? sum.mean<R>()
                                                : std::numeric_limits<R>::quiet_NaN();
        }
        on_every_target([&] {
          reduce(what, segments(x, offsets), found, {.backend = "serial", .method = method::exact});
          for (std::size_t i = 0; i < segments_count; ++i) {
            CAPTURE(i);
            CAPTURE(std::string(to_string(what)));
            CHECK(bits_of(found[i]) == bits_of(expected[i]));
          }
        });
      }
    };
    check_results(float{});
    check_results(double{});
  }

  TEST_CASE_TEMPLATE("the caller's exception flags stay", T, f16, bf16) {
    std::vector<T> x(1000, T(0.1f));
    x[500] = std::numeric_limits<T>::infinity();
    x[501] = T(-HUGE_VALF);
    on_every_target([&] {
      for (const int raised : {0, FE_INEXACT, FE_OVERFLOW | FE_INVALID}) {
        std::feclearexcept(FE_ALL_EXCEPT);
        std::feraiseexcept(raised);
        const int before = std::fetestexcept(FE_ALL_EXCEPT);
        sum_by(operation::sum, x);
        CHECK((std::fetestexcept(FE_ALL_EXCEPT) & before) == before);
      }
    });
    std::feclearexcept(FE_ALL_EXCEPT);
  }
}

}  // namespace
}  // namespace fanin::test
