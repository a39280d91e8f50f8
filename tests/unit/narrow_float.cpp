// SPDX-License-Identifier: Apache-2.0
// Tests numbers of 16 bits: conversions, and that CPU backends reduce them with the bits of the same numbers as
// floats.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <fanin/recipe.hpp>

#include "tests/support/call.hpp"
#include "tests/support/float_environment.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

/// The value of the bits by the definition of the format.
template <class T>
float value_of(unsigned bits) {
  constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - digits;
  const unsigned exponent = (bits & 0x7fff) >> (digits - 1), fraction = bits & ((1u << (digits - 1)) - 1);
  const float sign = bits >> 15 != 0 ? -1.0f : 1.0f;
  if (exponent == 0x7fffu >> (digits - 1)) return fraction != 0 ? std::nanf("") : sign * HUGE_VALF;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), least);
  return sign * std::ldexp(static_cast<float>(fraction | 1u << (digits - 1)), least + static_cast<int>(exponent) - 1);
}

/// The result for numbers of 16 bits as that for floats has it, with an element as a float.
template <class T>
scalar as_floats(const scalar& value) {
  return std::visit(
      []<class R>(const R& x) -> scalar {
        if constexpr (std::same_as<R, T>) return static_cast<float>(x);
        if constexpr (std::same_as<R, indexed<T>>) return indexed<float>{x.value, x.index};
        if constexpr (std::same_as<R, extremes<T>>) return extremes<float>{x.min, x.max};
        return x;
      },
      value);
}

template <class T>
void check_as_floats(const std::vector<T>& x, const std::vector<T>& y) {
  const std::vector<float> wide_x(x.begin(), x.end()), wide_y(y.begin(), y.end());
  for (const operation what : all_operations) {
    for (const method how : all_methods) {
      if (!is_offered(what, type_of<T>, how)) continue;
      const bool two = row_of(what).inputs == 2;
      const auto by = [&](std::string_view name, const input_views& inputs) {
        const backend* const one[] = {&find_backend(name)};
        return reduced(*one[0], select(one, name, what, inputs, {.how = how, .threads = 3}).what);
      };
      const std::span<const T> a(x), b(y);
      const std::span<const float> wide_a(wide_x), wide_b(wide_y);
      const reduction expected = by("serial", two ? input_views(wide_a, wide_b) : input_views(wide_a));
      for (const std::string_view name : {"serial", "openmp", "tbb"}) {
        if (!find_backend(name).probe().usable()) continue;
        const reduction found = by(name, two ? input_views(a, b) : input_views(a));
        CAPTURE(told(what, a, {.how = how}));
        CHECK(same(as_floats<T>(found.value), expected.value));
        CHECK(found.bound.of_magnitudes == expected.bound.of_magnitudes);
        CHECK(found.bound.of_result == expected.bound.of_result);
      }
    }
  }
}

}  // namespace

TEST_SUITE("unit/narrow_float") {
  TEST_CASE_TEMPLATE("all numbers become the floats that they are, and these become the numbers", T, f16, bf16) {
    for (const auto how : {subnormals::kept, subnormals::flushed, subnormals::read_as_zero}) {
      const unusual_environment here(FE_UPWARD, how);
      int wrong = 0;
      for (unsigned bits = 0; bits < 0x10000; ++bits) {
        const float found = T::of_bits(bits);
        const auto found_bits = std::bit_cast<std::uint32_t>(found);
        if ((found_bits & 0x7fffffff) > 0x7f800000) {
          if (T(found).bits != T::quiet_nan) ++wrong;
        } else if (T(found).bits != bits) {
          ++wrong;
        }
      }
      CHECK(wrong == 0);
    }
    int wrong = 0;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const float found = T::of_bits(bits), expected = value_of<T>(bits);
      if (std::isnan(expected) ? !std::isnan(found) : bits_of(found) != bits_of(expected)) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE_TEMPLATE("floats are rounded to the nearest number, ties to even", T, f16, bf16) {
    constexpr unsigned infinity = T::infinity;
    for (unsigned low = 0; low < infinity; ++low) {
      // Between two numbers, of which the one after the largest stands for infinity, their mean decides.
      const double below = value_of<T>(low);
      const double above = low + 1 < infinity ? value_of<T>(low + 1) : std::ldexp(1.0, T::bias + 1);
      const double middle = (below + above) / 2;
      const auto tie = static_cast<float>(middle);
      REQUIRE(static_cast<double>(tie) == middle);
      const unsigned even = low % 2 == 0 ? low : low + 1;
      const bool right = T(tie).bits == even && T(std::nextafter(tie, 0.0f)).bits == low &&
                         T(std::nextafter(tie, HUGE_VALF)).bits == low + 1 && T(-tie).bits == (even | T::sign_bit);
      if (!right) CHECK(low == infinity);
    }
    static_assert(T(1.5f).bits == (unsigned{T::bias} << (std::numeric_limits<T>::digits - 1) | T::implicit_one >> 1));
    CHECK(T(HUGE_VALF).bits == infinity);
    CHECK(T(std::numeric_limits<float>::max()).bits == infinity);
    CHECK(T(std::numeric_limits<float>::denorm_min()).bits == 0);
    CHECK(T(-std::nanf("7")).bits == T::quiet_nan);
  }

  TEST_CASE("limits") {
    using half = std::numeric_limits<f16>;
    using brain = std::numeric_limits<bf16>;
    CHECK(std::tuple(half::digits, half::digits10, half::max_digits10) == std::tuple(11, 3, 5));
    CHECK(std::tuple(half::min_exponent, half::min_exponent10, half::max_exponent, half::max_exponent10) ==
          std::tuple(-13, -4, 16, 4));
    CHECK(std::tuple(brain::digits, brain::digits10, brain::max_digits10) == std::tuple(8, 2, 4));
    CHECK(std::tuple(brain::min_exponent, brain::min_exponent10, brain::max_exponent, brain::max_exponent10) ==
          std::tuple(-125, -37, 128, 38));
    CHECK(std::tuple(half::max(), half::lowest(), half::min(), half::denorm_min(), half::epsilon()) ==
          std::tuple(65504.0f, -65504.0f, 0x1p-14f, 0x1p-24f, 0x1p-10f));
    CHECK(std::tuple(brain::max(), brain::min(), brain::denorm_min(), brain::epsilon(), brain::round_error()) ==
          std::tuple(0x1.fep127f, 0x1p-126f, 0x1p-133f, 0x1p-7f, 0.5f));
  }

  TEST_CASE_TEMPLATE("CPU backends give the bits of the same numbers as floats", T, f16, bf16) {
    on_every_target([] {
      for (const std::size_t count : {2, 3, 63, 64, 65, 2047, 2049, 4095, 4096, 4097, 8192, 8193, 50001}) {
        auto x = mixed_values<T>(count, 31);
        const auto y = mixed_values<T>(count, 32);
        check_as_floats(x, y);
        if (count > 10000) {
          check_as_floats(mixed_values<T>(1200007, 33), mixed_values<T>(1200007, 34));
          x[count / 2] = T(-std::nanf("5"));
          check_as_floats(x, y);
        }
      }
    });
  }
}

}  // namespace fanin::test
