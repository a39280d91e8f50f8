// SPDX-License-Identifier: Apache-2.0
// Tests on every instruction set of this machine that counts, extrema and sums of integers of columns have the bits
// of the reduction of a copy of each column.
#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr operation comparisons[] = {operation::min,           operation::max,    operation::minmax,
                                     operation::max_magnitude, operation::argmin, operation::argmax,
                                     operation::count_nonzero, operation::any,    operation::all};
constexpr operation sums[] = {operation::sum,
                              operation::mean,
                              operation::sum_of_magnitudes,
                              operation::variance,
                              operation::sum_of_squares,
                              operation::norm2,
                              operation::sample_standard_deviation};

/// What the words of a table are: bits of every kind, a few words that are equal to others, integers of few bits, the
/// largest integer, zeros before a last row of ones, or ones of both signs with a rare two or zero.
enum class words { any, few, small, largest, late, units };

std::uint64_t word_of(words kind, element_type type, bool is_last, generator& random) {
  const std::size_t bytes = byte_size(type);
  const bool is_signed = default_result(operation::sum, type) != element_type::u64;
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1), bits = random();
  if (kind == words::late) return is_last ? 1 : 0;
  if (kind == words::units) {
    const std::uint64_t size = bits % 97 == 0 ? 2 : bits % 1009 == 0 ? 0 : 1;
    return is_signed && (bits >> 40 & 1) != 0 ? 0 - size : size;
  }
  if (kind == words::largest) return is_signed ? sign - 1 : sign | (sign - 1);
  // Zeros, the largest and the smallest integers, infinities of f32, f64, bf16 and e5m2, and NaN of both signs.
  const auto upper = [&](std::uint64_t leading) { return leading >> (64 - 8 * bytes); };
  const std::uint64_t few[] = {0,
                               sign,
                               1,
                               sign - 1,
                               ~std::uint64_t{0},
                               sign | 1,
                               upper(0x7f80000000000000),
                               upper(0xff80000000000000),
                               upper(0x7ff0000000000000),
                               upper(0xfc00000000000000)};
  if (kind == words::few) return few[bits % (random() % 8 == 0 ? std::size(few) : 2)];
  if (kind == words::small) return bits % 201 - (is_signed ? 100 : 0);
  return bits % 16 == 0 ? few[bits / 16 % std::size(few)] : bits;
}

/// A table that begins one element after the first one of its memory, and a copy of its columns one after another.
struct table {
  element_type type;
  std::size_t rows, columns, bytes;
  std::vector<std::byte> memory, by_column;

  table(element_type of, std::size_t r, std::size_t c, words kind)
      : type(of), rows(r), columns(c), bytes(byte_size(of)), memory((r * c + 1) * bytes), by_column(r * c * bytes) {
    generator random(rows + columns);
    for (std::size_t i = 0; i < rows * columns; ++i) {
      const std::uint64_t word = word_of(kind, type, i / columns + 1 == rows, random);
      std::memcpy(memory.data() + (i + 1) * bytes, &word, bytes);
      std::memcpy(by_column.data() + (i % columns * rows + i / columns) * bytes, &word, bytes);
    }
  }

  void check(operation what, unsigned threads) const {
    CAPTURE(std::string(to_string(what)));
    CAPTURE(std::string(to_string(type)));
    CAPTURE(rows);
    CAPTURE(columns);
    const options chosen{.backend = threads == 1 ? "serial" : "openmp", .threads = threads};
    const std::size_t shape[] = {rows, columns};
    const int along[] = {0};
    const std::ptrdiff_t strides[] = {static_cast<std::ptrdiff_t>(columns), 1};
    const array_view x(memory.data() + bytes, rows * columns, type);
    const auto found = call_each(find_backend(chosen.backend), what, fanin::rows(x, shape, along, strides), chosen);
    std::size_t wrong = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const array_view column(by_column.data() + c * rows * bytes, rows, type);
      wrong += same(found.values[c], reduce(what, column, {.backend = "serial"}).value) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
};

void check_table(element_type type, std::size_t rows, std::size_t columns, words kind, unsigned threads) {
  const table t(type, rows, columns, kind);
  for (const operation what : comparisons) t.check(what, threads);
  if (!is_integer(type) || rows == 1) return;
  for (const operation what : sums) {
    const bool is_f64 = default_result(what, type) == element_type::f64;
    if (is_f64 || kind == words::small || kind == words::late ||
        byte_size(type) <= (what == operation::sum_of_squares ? 2 : 4)) {
      t.check(what, threads);
    }
  }
}

template <class F>
void for_each_type(const F& f) {
  on_every_target([&] {
    for (const element_type type : all_element_types) {
      if (!is_complex(type)) f(type);
    }
  });
}

TEST_SUITE("unit/word_columns") {
  TEST_CASE("columns of few and of many rows, with and without whole vectors") {
    for_each_type([](element_type type) {
      for (const words kind : {words::any, words::few, words::small}) {
        for (const std::size_t rows : {1, 7, 9, 128, 129, 255, 256, 257, 600}) check_table(type, rows, 134, kind, 1);
        for (const std::size_t columns : {1, 31, 65, 128}) check_table(type, 260, columns, kind, 1);
      }
    });
  }

  TEST_CASE("columns of several tiles") {
    for_each_type([](element_type type) { check_table(type, 11, 16384 / byte_size(type) + 3, words::any, 1); });
  }

  TEST_CASE("columns that fill small states") {
    for_each_type([](element_type type) {
      const bool of_16_bits = byte_size(type) == 2;
      for (const words kind : {words::largest, words::late}) {
        check_table(type, of_16_bits ? 66000 : 300, of_16_bits ? 33 : 129, kind, 1);
      }
    });
  }

  TEST_CASE("columns of several parts, and of more rows than words of 16 bits count") {
    for_each_type([](element_type type) {
      const std::size_t bytes = byte_size(type), rows = bytes == 2 ? 66000 : 4100;
      check_table(type, rows, (std::size_t{1} << 21) / (rows * bytes) + 20, words::any, 3);
    });
  }

  TEST_CASE("products of columns") {
    for_each_type([](element_type type) {
      if (!is_integer(type)) return;
      const auto check = [&](std::size_t rows, std::size_t columns, unsigned threads) {
        table(type, rows, columns, words::units).check(operation::product, threads);
      };
      for (const std::size_t rows : {1, 7, 9, 255, 256, 257, 1100}) check(rows, 134, 1);
      check(40, 16384 / byte_size(type) + 3, 1);
      check(4100, (std::size_t{1} << 21) / (4100 * byte_size(type)) + 130, 3);
    });
  }

  TEST_CASE("a product of a column that does not fit is an error, unless the column has a zero") {
    std::vector<std::int64_t> x(80 * 600, 1), out(80);
    for (std::size_t row : {0, 599}) {
      x[row * 80 + 33] = std::int64_t{1} << 32;
      x[row * 80 + 34] = std::int64_t{1} << 31;
      x[row * 80 + 35] = -(std::int64_t{1} << 32);
    }
    x[34] *= -2;  // The product is the smallest integer.
    x[300 * 80 + 35] = 0;
    CHECK_THROWS_WITH_AS(product(fanin::rows(x, {600, 80}, 0), out), doctest::Contains("33"), overflow);
    CHECK(out[32] == 1);
    CHECK(out[34] == std::numeric_limits<std::int64_t>::min());
    CHECK(out[35] == 0);
  }

  TEST_CASE("a sum of a column that does not fit is an error, and the other sums are written") {
    std::vector<std::int64_t> x(80 * 20, -(std::int64_t{1} << 62) / 20), out(80);
    x[7 * 80 + 33] = std::numeric_limits<std::int64_t>::min();
    CHECK_THROWS_WITH_AS(sum(fanin::rows(x, {20, 80}, 0), out), doctest::Contains("33"), overflow);
    CHECK(out[32] == -(std::int64_t{1} << 62) / 20 * 20);
    CHECK(out[79] == out[32]);
  }
}

}  // namespace
}  // namespace fanin::test
