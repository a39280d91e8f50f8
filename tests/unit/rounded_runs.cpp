// SPDX-License-Identifier: Apache-2.0
// Tests on every instruction set of this machine that each of many short segments has the bits of the reduction of
// its elements alone, for every operation and method: also where sums that round cannot tell the exact result. And
// tests that columns of narrow floats have these bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

/// The kinds of numbers that a segment may have.
enum class number_kind {
  near,
  equal,
  zeros,
  negative_zeros,
  any_bits,
  special,
  large,
  tiny,
  tiny_squares,
  halfway,
  integers,
  far_from_zero,
};
constexpr int kinds_of_numbers = static_cast<int>(number_kind::far_from_zero) + 1;

template <class T>
T number_of(number_kind what, std::size_t i, generator& random) {
  using limits = std::numeric_limits<T>;
  const auto largest = static_cast<double>(limits::max()), least = static_cast<double>(limits::denorm_min());
  const double uniform = static_cast<double>(random() >> 12) * 0x1p-51 - 1;
  const auto of = [](double x) { return T(static_cast<computed_as<T>>(x)); };
  constexpr double specials[] = {HUGE_VAL, -HUGE_VAL, NAN};
  switch (what) {
    case number_kind::equal:
      return of(0.7);
    case number_kind::zeros:
      return of(random() % 2 == 0 ? 0.0 : -0.0);
    case number_kind::negative_zeros:
      return of(-0.0);
    case number_kind::any_bits:
      return mixed_values<T>(1, random())[0];
    case number_kind::special:
      return random() % 60 == 0 ? of(specials[random() % 3]) : of(uniform);
    case number_kind::large:
      return of(largest * uniform);
    case number_kind::tiny:
      return of(least * std::floor(uniform * 40));
    case number_kind::tiny_squares:
      return of(std::sqrt(least) * uniform);
    case number_kind::halfway:  // The first two add up to the middle of two numbers of type T, and another one may be
                                // added to this.
      return of(i == 0 ? 1 : i == 1 ? static_cast<double>(limits::epsilon()) / 2 : i == 16 ? least : 0);
    case number_kind::integers:
      return of(std::floor(uniform * 8));
    case number_kind::far_from_zero:
      return of(1000 + uniform);
    default:
      return of(uniform);
  }
}

/// Integers of which neither the sum of 4097 squares nor a sum overflows, or if `wide`, of all sizes.
template <std::integral T>
T number_of(bool wide, generator& random) {
  using word = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  return static_cast<T>(static_cast<word>(random()) >> (wide || sizeof(T) < 4 ? 64 - 8 * sizeof(T) : 44));
}

template <class T>
struct segmented {
  std::vector<T> x;
  std::vector<std::size_t> offsets{0};
};

/// Segments of every kind, with lengths around those of vectors and around the longest that are served together.
template <class T>
segmented<T> short_segments(bool wide) {
  segmented<T> all;
  generator random(17);
  for (const std::size_t n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 63, 64, 65, 100, 256, 600, 4095, 4096, 4097}) {
    for (int what = 0; what < kinds_of_numbers; ++what) {
      for (std::size_t i = 0; i < n; ++i) {
        if constexpr (std::integral<T>) {
          all.x.push_back(number_of<T>(wide, random));
        } else {
          all.x.push_back(number_of<T>(static_cast<number_kind>(what), i, random));
        }
      }
      all.offsets.push_back(all.x.size());
    }
  }
  return all;
}

template <class T>
void check_segments(const segmented<T>& all, operation what, const options& chosen) {
  CAPTURE(std::string(to_string(what)));
  CAPTURE(std::string(to_string(*chosen.method)));
  CAPTURE(std::string(to_string(*chosen.result)));
  const std::span<const T> x(all.x);
  const std::size_t results = all.offsets.size() - 1;
  const batch_reduction found = call_each(find_backend("serial"), what, segments(x, all.offsets), chosen);
  for (std::size_t i = 0; i < results; ++i) {
    const auto elements = x.subspan(all.offsets[i], all.offsets[i + 1] - all.offsets[i]);
    if (elements.size() < least_count(what)) continue;
    CAPTURE(i % kinds_of_numbers);
    CAPTURE(elements.size());
    if (!same(found.values[i], reduce(what, array_view(elements), chosen).value)) FAIL_CHECK("other bits");
  }
}

template <class T>
void check_operations() {
  const segmented<T> all = short_segments<T>(false), wide = short_segments<T>(true);
  on_every_target([&] {
    for (const operation what : all_operations) {
      if (row_of(what).inputs == 2 || (what == operation::product && std::integral<T>)) continue;
      for (const method how : all_methods) {
        if (arithmetic_method(what, type_of<T>, how) != how || !is_offered(what, type_of<T>, how)) continue;
        for (const element_type result : {element_type::i64, element_type::u64, element_type::f32, element_type::f64,
                                          element_type::bf16, element_type::f16, element_type::e4m3, type_of<T>}) {
          if (!is_result(what, type_of<T>, how, result)) continue;
          check_segments(result == element_type::f64 ? wide : all, what,
                         {.backend = "serial", .method = how, .result = result, .threads = 1});
        }
      }
    }
  });
}

/// Columns of `rows` numbers, whose sums, sums of squares and norms in turn are the middle of two narrow floats, or
/// near to it by a power of two, down to one that no double holds beside the middle.
template <narrow_float T>
std::vector<T> near_middles(std::size_t rows, std::size_t columns) {
  constexpr int digits = std::numeric_limits<T>::digits;
  std::vector<T> x(rows * columns, T(0.0f));
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t r = 0;
    const bool squares = c % 3 != 0;
    // Adds an element that is 2^exponent, or one or two elements whose squares have the sum 2^exponent.
    const auto add = [&](int exponent, float sign) {
      const int halves = squares ? std::abs(exponent % 2) + 1 : 1;
      const int of_element = squares ? (exponent - halves + 1) / 2 : exponent;
      for (int i = 0; i < halves; ++i) x[r++ * columns + c] = T(std::ldexp(sign, of_element));
    };
    add(c % 3 == 2 ? 2 * digits : digits, 1);
    if (c % 3 == 2) add(digits + 1, 1);
    add(0, 1);
    const int distance = static_cast<int>(c / 3 % 25);
    if (distance > 0) add(squares ? -2 * distance : -distance, c % 2 == 0 ? 1.0f : -1.0f);
  }
  return x;
}

/// Segments of numbers of which some are 2^apart times as large as others.
template <narrow_float T>
segmented<T> numbers_apart(int apart) {
  using limits = std::numeric_limits<T>;
  segmented<T> all;
  generator random(23);
  const int top = std::min(limits::max_exponent - 1, 40);
  for (std::size_t n = 1; n <= 64; ++n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double mantissa = 1 + static_cast<double>(random() >> 40) * 0x1p-24;
      const double sign = random() % 2 == 0 ? 1 : -1;
      const auto x = std::ldexp(sign * mantissa, random() % 3 == 0 ? top - apart : top - 1);
      all.x.push_back(T(static_cast<float>(x)));
    }
    all.offsets.push_back(all.x.size());
  }
  return all;
}

TEST_SUITE("unit/rounded_runs") {
  TEST_CASE_TEMPLATE(
      "short segments whose sums have about as many digits as a double have the bits of their elements", T, bf16,
      f16) {
    on_every_target([] {
      for (int apart = 1; apart < 60; ++apart) {
        CAPTURE(apart);
        const segmented<T> all = numbers_apart<T>(apart);
        for (const operation what : {operation::sum, operation::mean, operation::sum_of_magnitudes,
                                     operation::sum_of_squares, operation::norm2, operation::variance}) {
          for (const element_type result : {element_type::f64, type_of<T>}) {
            check_segments(all, what, {.backend = "serial", .method = method::exact, .result = result, .threads = 1});
          }
        }
      }
    });
  }
  TEST_CASE_TEMPLATE("columns near the middle of two narrow floats have the bits of their elements alone", T, bf16,
                     f16, e5m2) {
    constexpr std::size_t length = 64, columns = 300;
    const std::vector<T> x = near_middles<T>(length, columns);
    const batch many = rows(std::span<const T>(x), {length, columns}, 0);
    on_every_target([&] {
      for (const operation what : {operation::sum, operation::mean, operation::sum_of_squares, operation::norm2,
                                   operation::variance, operation::sample_standard_deviation}) {
        CAPTURE(std::string(to_string(what)));
        const options chosen{.backend = "serial", .method = method::exact, .result = type_of<T>, .threads = 1};
        const batch_reduction found = call_each(find_backend("serial"), what, many, chosen);
        for (std::size_t c = 0; c < columns; ++c) {
          CAPTURE(c);
          std::vector<T> column;
          for (std::size_t r = 0; r < length; ++r) column.push_back(x[r * columns + c]);
          const std::span<const T> alone(column);
          if (!same(found.values[c], reduce(what, array_view(alone), chosen).value)) FAIL_CHECK("other bits");
        }
      }
    });
  }
  TEST_CASE_TEMPLATE("short segments of floats have the bits of their elements alone", T, float, double, bf16, f16,
                     e4m3) {
    check_operations<T>();
  }
  TEST_CASE_TEMPLATE("short segments of integers have the bits of their elements alone", T, std::int8_t, std::uint8_t,
                     std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    check_operations<T>();
  }
  TEST_CASE("the mean of a short segment that underflows keeps its sign") {
    constexpr float a = 0x1.8p-103f, least = std::numeric_limits<float>::denorm_min();
    const std::vector<float> x{a, -a, a, -a, -least, 0, a, -a, a, -a, least, 0};
    const std::vector<std::size_t> offsets{0, 6, 12};
    std::vector<float> out(2);
    on_every_target([&] {
      reduce(operation::mean, segments(x, offsets), out, {.backend = "serial", .method = method::exact});
      CHECK(out == std::vector<float>{0, 0});
      CHECK(std::signbit(out[0]));
      CHECK_FALSE(std::signbit(out[1]));
    });
  }
  TEST_CASE("a short segment whose sum does not fit is an error that names the segment") {
    const std::vector<std::int64_t> x{1, 2, std::int64_t{1} << 62, std::int64_t{1} << 62, -5};
    const std::vector<std::size_t> offsets{0, 2, 4, 5};
    std::vector<std::int64_t> out(3);
    for (const operation what : {operation::sum, operation::sum_of_squares}) {
      CHECK_THROWS_WITH_AS(reduce(what, segments(x, offsets), out, {.backend = "serial"}),
                           "segment 1: the result does not fit in i64", overflow);
    }
  }
}

}  // namespace
}  // namespace fanin::test
