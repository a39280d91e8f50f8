// SPDX-License-Identifier: Apache-2.0
// Tests on every instruction set of this machine that each result of a batch in host memory has the bits of the
// reduction of its elements alone, or that its elements are added one after another.
#include <doctest/doctest.h>

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

struct call_of {
  operation what;
  fanin::method method;
};
constexpr call_of float_calls[] = {{operation::sum, method::fast},
                                   {operation::sum, method::compensated},
                                   {operation::mean, method::fast},
                                   {operation::sum_of_squares, method::fast},
                                   {operation::sum_of_magnitudes, method::fast},
                                   {operation::product, method::fast},
                                   {operation::min, method::fast},
                                   {operation::max, method::fast},
                                   {operation::minmax, method::fast},
                                   {operation::sum, method::exact},
                                   {operation::mean, method::exact}};
constexpr call_of integer_calls[] = {
    {operation::sum, method::fast}, {operation::min, method::fast}, {operation::argmax, method::fast}};

/// Exponents, most of them near 0, and one in a few thousand beyond 600.
template <class T>
std::vector<T> exponents(std::size_t count) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float others[] = {600, -600, 608, -608, 3000, -3000, inf, -inf, nan, -0.f};
  generator random(7);
  std::vector<T> x(count);
  for (T& v : x) {
    const bool other = random() % 4000 == 0;
    v = static_cast<T>(other ? others[random() % std::size(others)]
                             : std::ldexp(static_cast<float>(random() >> 40), -20) - 8);
  }
  return x;
}

/// Elements of all magnitudes, and of some only zeros of both signs, a few of them NaN.
template <class T>
std::vector<T> elements(operation what, std::size_t count) {
  if (what == operation::product) return unit_factors<T>(count, 5);
  if (what == operation::log_sum_exp) return exponents<T>(count);
  std::vector<T> x = mixed_values<T>(count, 5);
  if constexpr (floating<T>) {
    generator random(3);
    for (std::size_t i = 0; i < count; i += 1 + random() % 3) x[i] = T(random() % 2 == 0 ? 0.0F : -0.0F);
    for (std::size_t i = 0; i < count; i += 1 + random() % 997) x[i] = std::numeric_limits<T>::quiet_NaN();
  }
  return x;
}

/// The number of type T that an operation has after the elements, one after another.
template <class T>
T in_order(operation what, const std::vector<T>& x) {
  T all = what == operation::product ? T{1} : -T{0};
  for (const T v : x) {
    if (what == operation::product) {
      all *= v;
    } else {
      all += what == operation::sum_of_squares ? v * v : what == operation::sum_of_magnitudes ? std::fabs(v) : v;
    }
  }
  if (what == operation::mean) return static_cast<T>(double{all} / static_cast<double>(x.size()));
  return x.empty() && what != operation::product ? T{0} : all;
}

/// The value of the elements of one result.
template <class T>
scalar expected_of(call_of call, layout kind, const std::vector<T>& x) {
  const options alone{.backend = "serial", .method = call.method};
  const auto& row = row_of(call.what);
  if (kind != layout::groups || row.unrounded || call.method == method::exact) {
    return reduce(call.what, array_view(std::span<const T>(x)), alone).value;
  }
  if (call.method == method::compensated) {
    std::vector<T> sum(1);
    reduce(call.what, groups(x, std::vector<std::uint32_t>(x.size()), 1), sum, alone);
    return sum[0];
  }
  if constexpr (std::is_floating_point_v<T>) {
    const T value = in_order(call.what, x);
    return value == value ? value : std::numeric_limits<T>::quiet_NaN();
  }
  return {};
}

/// Checks each result of `many` against the elements that alone(i) returns.
template <class T, class Alone>
void check(call_of call, const batch& many, unsigned threads, const Alone& alone) {
  const options chosen{.backend = threads == 1 ? "serial" : "openmp", .method = call.method, .threads = threads};
  CAPTURE(std::string(to_string(call.what)));
  CAPTURE(std::string(to_string(call.method)));
  const batch_reduction found = call_each(find_backend(chosen.backend), call.what, many, chosen);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const std::vector<T> x = alone(i);
    if (x.size() < least_count(call.what)) continue;
    wrong += same(found.values[i], expected_of(call, many.kind, x)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

template <class T, class Calls>
void check_rows(const Calls& calls) {
  for (const call_of call : calls) {
    const std::vector<T> x = elements<T>(call.what, 70 * 5000);
    const std::span<const T> all(x);
    for (const std::size_t n : {1, 3, 8, 9, 16, 17, 33, 64, 65, 100, 600, 2049, 5000}) {
      for (const std::size_t results : {1, 3, 16, 70}) {
        CAPTURE(n);
        CAPTURE(results);
        check<T>(call, rows(all.first(n * results), {n, results}, 0), 1, [&](std::size_t i) {
          std::vector<T> column;
          for (std::size_t k = 0; k < n; ++k) column.push_back(x[k * results + i]);
          return column;
        });
        check<T>(call, rows(all.first(n * results), {results, n}, 1), 1, [&](std::size_t i) {
          return std::vector<T>(x.begin() + static_cast<std::ptrdiff_t>(i * n),
                                x.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
        });
      }
    }
  }
}

/// Groups of x by random keys. The key 0 is `zeros` times as frequent as all other keys together.
template <class T>
void check_groups(call_of call, const std::vector<T>& x, std::size_t groups_count, std::size_t zeros,
                  unsigned threads) {
  CAPTURE(x.size());
  CAPTURE(groups_count);
  CAPTURE(threads);
  std::vector<std::uint32_t> keys;
  std::vector<std::vector<T>> members(groups_count);
  generator random(9);
  for (const T v : x) {
    keys.push_back(random() % (zeros + 1) != 0 ? 0 : static_cast<std::uint32_t>(random() % groups_count));
    members[keys.back()].push_back(v);
  }
  check<T>(call, groups(x, keys, groups_count), threads, [&](std::size_t i) { return members[i]; });
}

template <class T>
void check_groups(call_of call, std::size_t count, std::size_t groups_count, std::size_t zeros, unsigned threads) {
  check_groups<T>(call, elements<T>(call.what, count), groups_count, zeros, threads);
}

/// Numbers of some 15 binades with all digits of T, and one in `one_other_in` that needs other digits, or is no
/// number, or is -0.
template <class T>
std::vector<T> near_numbers(std::size_t count, std::uint64_t one_other_in = 50) {
  using limits = std::numeric_limits<T>;
  const T others[] = {limits::max(), -limits::max(),     limits::denorm_min(), limits::min(),
                      -T{0},         limits::infinity(), -limits::infinity(),  limits::quiet_NaN()};
  std::vector<T> x(count);
  generator random(11);
  for (T& v : x) {
    const auto digits = static_cast<T>(static_cast<std::int64_t>(random()) >> (64 - limits::digits));
    v = std::ldexp(digits, -limits::digits - static_cast<int>(random() % 15));
    if (random() % one_other_in == 0) v = others[random() % (random() % 64 == 0 ? 8 : 5)];
  }
  return x;
}

/// Rows of numbers below 1 of some 15 binades. In every column c with c % 32 = 5, numbers cancel in pairs but for
/// one, which is so small or so large that it may fit no word, by 2^-60 to 2^9, or is no finite number. So all its
/// digits are in the sum. Columns 64 to 95 have zeros, column 96 has -0, and all others have some zeros.
template <class T>
std::vector<T> planted_numbers(std::size_t rows, std::size_t columns) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float others[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  generator random(13);
  const auto number = [&](int exponent) {
    return std::ldexp(static_cast<float>(static_cast<std::int64_t>(random()) >> 40), exponent - 23);
  };
  std::vector<T> x(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % columns, kind = random() % 16384;
    const bool is_zero = (c >= 64 && c <= 96) || kind < 256;
    x[i] = static_cast<T>(is_zero ? (c == 96 || kind == 0 ? -0.0f : 0.0f) : number(-static_cast<int>(random() % 15)));
  }
  const float odd = 1 + std::max(static_cast<float>(std::numeric_limits<T>::epsilon()), 0x1p-23f);
  for (std::size_t c = 5; c < columns; c += 32) {
    const float last = std::ldexp(odd, 9 - static_cast<int>(c / 32 * 2 + rows % 2));
    const float planted = random() % 16 == 0 ? others[random() % 3] : last;
    for (std::size_t r = 0; r + 1 < rows; r += 2) x[(r + 1) * columns + c] = static_cast<T>(-x[r * columns + c]);
    x[(rows - 1) * columns + c] = static_cast<T>(planted);
    if (rows % 2 == 0) x[(rows - 2) * columns + c] = static_cast<T>(0.0f);
  }
  return x;
}

/// Columns of n elements, of x and of x backwards.
template <class T>
void check_columns(operation what, const std::vector<T>& x, std::size_t n, std::size_t columns, unsigned threads) {
  CAPTURE(n);
  CAPTURE(columns);
  CAPTURE(threads);
  const auto width = static_cast<std::ptrdiff_t>(columns);
  for (const bool backwards : {false, true}) {
    const std::size_t first = backwards ? (n - 1) * columns : 0;
    const std::size_t shape[] = {n, columns};
    const int along[] = {0};
    const std::ptrdiff_t strides[] = {backwards ? -width : width, 1};
    const batch many = rows(array_view(x.data() + first, x.size(), type_of<T>), shape, along, strides);
    check<T>({what, method::exact}, many, threads, [&](std::size_t i) {
      std::vector<T> column;
      for (std::size_t r = 0; r < n; ++r) column.push_back(x[(backwards ? n - 1 - r : r) * columns + i]);
      return column;
    });
  }
}

TEST_SUITE("unit/batch_bits") {
  TEST_CASE_TEMPLATE("rows of floats along both axes", T, float, double) {
    on_every_target([] { check_rows<T>(float_calls); });
  }

  TEST_CASE_TEMPLATE("rows of narrow floats along both axes", T, f16, bf16, e5m2) {
    on_every_target([] { check_rows<T>(float_calls); });
  }

  TEST_CASE_TEMPLATE("rows of integers along both axes", T, std::int8_t, std::uint16_t, std::int32_t, std::int64_t) {
    on_every_target([] { check_rows<T>(integer_calls); });
  }

  TEST_CASE_TEMPLATE("log_sum_exp of rows along both axes", T, float, double, f16, bf16) {
    constexpr call_of calls[] = {{operation::log_sum_exp, method::fast}};
    on_every_target([&] { check_rows<T>(calls); });
  }

  TEST_CASE_TEMPLATE("log_sum_exp of long columns, one of which has a distant exponent in its first or last leaf", T,
                     float, double) {
    constexpr std::size_t count = 4100, columns = 35;  // The last leaf has fewer elements than a row has states.
    on_every_target([] {
      for (const std::size_t place : {std::size_t{0}, count - 1}) {
        CAPTURE(place);
        std::vector<T> x(count * columns, T(0.5)), found(columns), alone(count);
        x[place * columns + 1] = 700;
        for (std::size_t i = 0; i < count; ++i) x[i * columns + 2] = T(-800) - static_cast<T>(i % 3);
        log_sum_exp(rows(x, {count, columns}, 0), found, {.backend = "serial"});
        for (std::size_t c = 0; c < columns; ++c) {
          for (std::size_t i = 0; i < count; ++i) alone[i] = x[i * columns + c];
          CHECK(found[c] == static_cast<T>(log_sum_exp(alone)));
        }
      }
    });
  }

  TEST_CASE_TEMPLATE("groups added in place and in buckets, and sorted", T, float, double) {
    for (const call_of call : float_calls) {
      check_groups<T>(call, 20000, 3, 0, 1);
      check_groups<T>(call, 30000, 9000, 0, 1);
      check_groups<T>(call, 30000, 9000, 1, 1);
    }
    for (const operation what : {operation::sum_of_squares, operation::sum_of_magnitudes}) {
      for (const method how : {method::fast, method::compensated}) check_groups<T>({what, how}, 30000, 900, 0, 1);
    }
    for (const call_of call : {call_of{operation::sum, method::fast}, call_of{operation::max, method::fast}}) {
      check_groups<T>(call, 600000, 9000, 0, 1);
      check_groups<T>(call, 600000, 9000, 0, 8);
      check_groups<T>(call, 600000, 1000, 0, 3);
      check_groups<T>(call, 600000, 1000, 0, 8);
      check_groups<T>(call, 600000, 20000, 0, 8);
      check_groups<T>(call, 600000, 20000, 3, 8);
    }
  }

  TEST_CASE_TEMPLATE("exact sums of groups, of which some elements fit in no word", T, float, double) {
    on_every_target([] {
      for (const operation what : {operation::sum, operation::mean, operation::sum_of_magnitudes}) {
        const call_of call{what, method::exact};
        check_groups<T>(call, near_numbers<T>(20000), 3, 0, 1);
        check_groups<T>(call, near_numbers<T>(30000), 900, 1, 1);
      }
      for (const operation what :
           {operation::sum_of_squares, operation::norm2, operation::variance, operation::standard_deviation,
            operation::sample_variance, operation::sample_standard_deviation}) {
        check_groups<T>({what, method::exact}, near_numbers<T>(8000), 3, 0, 1);
        check_groups<T>({what, method::exact}, near_numbers<T>(8000), 600, 1, 1);
      }
      for (const operation what : {operation::sum, operation::norm2, operation::variance}) {
        check_groups<T>({what, method::exact}, std::vector<T>(5000, -T{0}), 700, 0, 1);
      }
    });
    check_groups<T>({operation::variance, method::exact}, near_numbers<T>(600000), 900, 1, 3);
    check_groups<T>({operation::norm2, method::exact}, near_numbers<T>(600000), 9000, 0, 8);
    check_groups<T>({operation::sum, method::exact}, near_numbers<T>(600000), 900, 1, 3);
    check_groups<T>({operation::sum, method::exact}, near_numbers<T>(600000), 9000, 0, 8);
  }

  TEST_CASE_TEMPLATE("exact sums of columns, of which some elements fit in no word", T, float, double) {
    on_every_target([] {
      for (const operation what : {operation::sum, operation::mean, operation::sum_of_magnitudes,
                                   operation::sum_of_squares, operation::norm2, operation::sample_variance}) {
        check_columns<T>(what, near_numbers<T>(100 * 37, 2000), 100, 37, 1);
        check_columns<T>(what, std::vector<T>(40 * 9, -T{0}), 40, 9, 1);
      }
    });
    for (const operation what : {operation::sum, operation::mean, operation::standard_deviation}) {
      check_columns<T>(what, near_numbers<T>(5000 * 21, 2000), 5000, 21, 1);
      check_columns<T>(what, near_numbers<T>(50 * 1100, 2000), 50, 1100, 1);
      check_columns<T>(what, near_numbers<T>(9000 * 60, 2000), 9000, 60, 8);
      // In the words of one column, a few thousand elements take all bits.
      std::vector<T> x(5000 * 100, T{1});
      for (std::size_t i = 7; i < x.size(); i += 100)
        x[i] = static_cast<T>(sizeof(T) == 4 ? 0x1.fffffep3 : 0x1.fffffep5);
      check_columns<T>(what, x, 5000, 100, 1);
    }
  }

  TEST_CASE_TEMPLATE("exact sums of columns with single elements that fit in no word", T, float, double, f16, bf16) {
    on_every_target([] {
      for (const operation what : {operation::sum, operation::mean, operation::sum_of_magnitudes,
                                   operation::sum_of_squares, operation::norm2, operation::sample_variance}) {
        for (const std::size_t n : {32, 33, 65}) check_columns<T>(what, planted_numbers<T>(n, 1000), n, 1000, 1);
        check_columns<T>(what, planted_numbers<T>(2200, 37), 2200, 37, 1);
      }
    });
    check_columns<T>(operation::sum, planted_numbers<T>(3000, 2000), 3000, 2000, 2);
  }

  TEST_CASE_TEMPLATE("variances of columns whose numbers differ in their last bits", T, float, double, f16, bf16) {
    constexpr std::size_t rows = 96, columns = 200;
    on_every_target([] {
      // Every bit of a sum and of a sum of squares is in the variance.
      const auto numbers = [](std::uint64_t most) {
        generator random(17);
        std::vector<T> x(rows * columns);
        for (T& v : x) {
          const auto steps = static_cast<float>(random() % most);
          v = static_cast<T>(1 + static_cast<T>(steps * static_cast<float>(std::numeric_limits<T>::epsilon())));
        }
        return x;
      };
      for (const operation what : {operation::variance, operation::sample_standard_deviation}) {
        for (const std::uint64_t most : {2, 100}) check_columns<T>(what, numbers(most), rows, columns, 1);
      }
    });
  }

  TEST_CASE_TEMPLATE("squares of columns, of which one has a digit below its words", T, float, double) {
    constexpr std::size_t rows = 64, columns = 1000;
    on_every_target([] {
      for (const int exponent : {-40, -66, -75, -76, -90}) {
        std::vector<T> x(rows * columns, T{1});
        for (std::size_t r = 0; r < rows; ++r) x[r * columns + 5] = T{0};
        x[5] = std::ldexp(T{1}, exponent);
        check_columns<T>(operation::sum_of_squares, x, rows, columns, 1);
      }
    });
  }

  TEST_CASE_TEMPLATE("exact sums of columns of the largest numbers, with some that are not finite", T, float, bf16) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    constexpr std::size_t rows = 64, columns = 100;
    on_every_target([] {
      for (const int exponent : {123, 124, 125, 126, 127}) {
        std::vector<T> x(rows * columns);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const float size = i < columns ? 1.25f : 1.5f;
          x[i] = static_cast<T>(std::ldexp(i / columns % 2 == 0 ? size : -size, exponent));
        }
        x[40 * columns + 5] = static_cast<T>(infinity), x[41 * columns + 37] = static_cast<T>(-infinity);
        x[42 * columns + 70] = static_cast<T>(nan);
        for (const operation what : {operation::sum, operation::mean}) check_columns<T>(what, x, rows, columns, 1);
      }
    });
  }

  TEST_CASE_TEMPLATE("groups sorted in two steps", T, float, double) {
    for (const call_of call :
         {call_of{operation::sum, method::exact}, call_of{operation::count_nonzero, method::fast}}) {
      check_groups<T>(call, 700000, 300001, 0, 1);
      check_groups<T>(call, 700000, 300001, 0, 3);
      check_groups<T>(call, 300000, 300001, 3, 1);  // most of them in one bucket
      check_groups<T>(call, 300000, 300001, 3, 2);
    }
  }
}

}  // namespace
}  // namespace fanin::test
