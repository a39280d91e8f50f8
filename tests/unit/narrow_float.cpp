// SPDX-License-Identifier: Apache-2.0
// Tests numbers of 8 and 16 bits: conversions, and that CPU backends reduce them with the bits of the same numbers as
// floats.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include <fanin/fanin.hpp>
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
  constexpr unsigned every_bit = T::sign_bit - 1u;
  const unsigned exponent = (bits & every_bit) >> (digits - 1), fraction = bits & ((1u << (digits - 1)) - 1);
  const float sign = (bits & T::sign_bit) != 0 ? -1.0f : 1.0f;
  if (T::has_infinity && exponent == every_bit >> (digits - 1))
    return fraction != 0 ? std::nanf("") : sign * HUGE_VALF;
  if (!T::has_infinity && (bits & every_bit) == every_bit) return std::nanf("");
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), least);
  return sign * std::ldexp(static_cast<float>(fraction | 1u << (digits - 1)), least + static_cast<int>(exponent) - 1);
}

/// The result for narrow numbers as that for floats has it, with an element as a float.
template <class T>
scalar as_floats(const scalar& value) {
  return fanin::visit(
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
        return reduced(*one[0], select(one, name, what, inputs, {.method = how, .threads = 3}).what);
      };
      const std::span<const T> a(x), b(y);
      const std::span<const float> wide_a(wide_x), wide_b(wide_y);
      const reduction expected = by("serial", two ? input_views(wide_a, wide_b) : input_views(wide_a));
      for (const std::string_view name : {"serial", "openmp", "tbb"}) {
        if (!find_backend(name).probe().usable()) continue;
        const reduction found = by(name, two ? input_views(a, b) : input_views(a));
        CAPTURE(told(what, a, {.method = how}));
        CHECK(same(as_floats<T>(found.value), expected.value));
        CHECK(found.bound.of_magnitudes == expected.bound.of_magnitudes);
        CHECK(found.bound.of_result == expected.bound.of_result);
      }
    }
  }
}

}  // namespace

TEST_SUITE("unit/narrow_float") {
  TEST_CASE_TEMPLATE("all numbers become the floats that they are, and these become the numbers", T, f16, bf16, e5m2,
                     e4m3) {
    for (const auto how : {subnormals::kept, subnormals::flushed, subnormals::read_as_zero}) {
      const changed_environment here(FE_UPWARD, how);
      int wrong = 0;
      for (unsigned bits = 0; bits < 2u * T::sign_bit; ++bits) {
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
    for (unsigned bits = 0; bits < 2u * T::sign_bit; ++bits) {
      const float found = T::of_bits(bits), expected = value_of<T>(bits);
      if (std::isnan(expected) ? !std::isnan(found) : bits_of(found) != bits_of(expected)) ++wrong;
    }
    CHECK(wrong == 0);
  }

  TEST_CASE_TEMPLATE("floats are rounded to the nearest number, ties to even", T, f16, bf16, e5m2, e4m3) {
    constexpr unsigned beyond = T::after_largest;
    const double largest = std::numeric_limits<T>::max(), before = value_of<T>(beyond - 2);
    for (unsigned low = 0; low < beyond; ++low) {
      // Between two numbers, their mean decides. The number after the largest stands for infinity or NaN.
      const double below = value_of<T>(low);
      const double above = low + 1 < beyond ? value_of<T>(low + 1) : 2 * largest - before;
      const double middle = (below + above) / 2;
      const auto tie = static_cast<float>(middle);
      REQUIRE(static_cast<double>(tie) == middle);
      const unsigned even = low % 2 == 0 ? low : low + 1;
      const bool right = T(tie).bits == even && T(std::nextafter(tie, 0.0f)).bits == low &&
                         T(std::nextafter(tie, HUGE_VALF)).bits == low + 1 && T(-tie).bits == (even | T::sign_bit);
      CAPTURE(low);
      CHECK(right);
    }
    static_assert(T(1.5f).bits == (unsigned{T::bias} << (std::numeric_limits<T>::digits - 1) | T::implicit_one >> 1));
    CHECK(T(HUGE_VALF).bits == beyond);
    CHECK(T(std::numeric_limits<float>::max()).bits == beyond);
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
    using five = std::numeric_limits<e5m2>;
    using four = std::numeric_limits<e4m3>;
    CHECK(std::tuple(five::digits, five::max_digits10, five::min_exponent, five::max_exponent,
                     five::max_exponent10) == std::tuple(3, 2, -13, 16, 4));
    CHECK(std::tuple(five::max(), five::min(), five::denorm_min(), five::epsilon(), five::infinity()) ==
          std::tuple(57344.0f, 0x1p-14f, 0x1p-16f, 0.25f, HUGE_VALF));
    CHECK(std::tuple(four::digits, four::max_digits10, four::min_exponent, four::max_exponent,
                     four::max_exponent10) == std::tuple(4, 3, -5, 9, 2));
    CHECK(std::tuple(four::max(), four::lowest(), four::min(), four::denorm_min(), four::epsilon()) ==
          std::tuple(448.0f, -448.0f, 0x1p-6f, 0x1p-9f, 0.125f));
    CHECK_FALSE(four::has_infinity);
    CHECK(std::isnan(four::infinity()));
  }

  TEST_CASE_TEMPLATE("exact results are rounded to the element's type once", T, f16, bf16, e5m2, e4m3) {
    const auto rounded = [](double exact) {  // by a float with an odd mantissa if it is not the number
      auto near = static_cast<float>(exact);
      if (std::fabs(near) > std::fabs(exact)) near = std::nextafter(near, 0.0f);
      const T nearest(near == exact ? near : std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) | 1));
      return nearest == nearest ? nearest : std::numeric_limits<T>::quiet_NaN();
    };
    const options exact{.method = method::exact};
    generator random(5);
    for (int round = 0; round < 4000; ++round) {
      std::vector<T> x(std::size_t{1} << random() % 6);
      double sum = -0.0, magnitudes = 0, squares = 0;  // No addition rounds: all digits are within 53.
      for (T& v : x) {
        v = T(std::ldexp(static_cast<float>(random() % 4096) - 2048, -static_cast<int>(random() % 24)));
        sum += v;
        magnitudes += std::fabs(v);
        squares += static_cast<double>(v) * v;
      }
      CHECK(bits_of(fanin::sum<T>(x, exact).value) == bits_of(rounded(sum)));
      CHECK(bits_of(fanin::mean<T>(x, exact).value) == bits_of(rounded(sum / static_cast<double>(x.size()))));
      CHECK(bits_of(fanin::sum_of_magnitudes<T>(x, exact).value) == bits_of(rounded(magnitudes)));
      CHECK(bits_of(fanin::sum_of_squares<T>(x, exact).value) == bits_of(rounded(squares)));
      CHECK(bits_of(fanin::dot<T>(x, x, exact).value) == bits_of(rounded(squares)));
    }
    // A sum in float would be a tie, which goes to the even neighbour below.
    const T least = std::numeric_limits<T>::denorm_min(), one(1.0f), half_unit(std::numeric_limits<T>::epsilon() / 2);
    CHECK(fanin::sum<T>(std::vector<T>{one, half_unit, least}, exact).value == 1 + std::numeric_limits<T>::epsilon());
    CHECK(fanin::sum<T>(std::vector<T>{one, half_unit}, exact).value == 1);
    const T largest = std::numeric_limits<T>::max();
    for (const float sign : {1.0f, -1.0f}) {
      const T far(sign * largest);
      const T sum = fanin::sum<T>(std::vector<T>{far, far}, exact).value;
      CHECK((T::has_infinity ? sum == sign * HUGE_VALF : sum.bits == T::quiet_nan));
    }
    CHECK(fanin::norm2<T>(std::vector<T>{T(3.0f), T(4.0f)}, exact).value == 5);
  }

  TEST_CASE_TEMPLATE("CPU backends give the bits of the same numbers as floats", T, f16, bf16, e5m2, e4m3) {
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
