// SPDX-License-Identifier: Apache-2.0
// Batches of host memory with more than 2^31 elements, and 10^8 groups, against sums known by construction. Up to
// 5.2 GB of memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/scale/known_sums.hpp"
#include "tests/support/repeated_memory.hpp"

namespace fanin::test {
namespace {

constexpr std::string_view backends_of_host[] = {"serial", "openmp", "tbb"};

/// Makes many_elements elements. Element i is of(i % piece).
template <class T, class Of>
class long_array {
 public:
  static constexpr std::size_t piece = repeated_memory<T>::piece_elements;
  explicit long_array(Of of) : memory_(filled(of)) {}
  std::span<const T> elements() const { return memory_.elements(); }

 private:
  static repeated_memory<T> filled(Of of) {
    std::vector<T> values(piece);
    for (std::size_t i = 0; i < piece; ++i) values[i] = of(i);
    const std::span<const T> all(values);
    return {std::span<const T, piece>(all), many_elements / piece, all.first(many_elements % piece)};
  }
  repeated_memory<T> memory_;
};

/// Element i of a long array of i8, and the sum of the elements before it.
constexpr std::size_t piece_of_bytes = repeated_memory<std::int8_t>::piece_elements;
std::int8_t byte_at(std::size_t i) { return static_cast<std::int8_t>(periodic(i % piece_of_bytes)); }
std::int64_t bytes_before(std::uint64_t i) {
  return static_cast<std::int64_t>(i / piece_of_bytes) * sum_before(piece_of_bytes) + sum_before(i % piece_of_bytes);
}

template <class Offset>
void check_segments(const input_views& x) {
  const std::vector<Offset> offsets{0,
                                    7,
                                    static_cast<Offset>((1ull << 31) - 3),
                                    static_cast<Offset>((1ull << 31) - 3),
                                    static_cast<Offset>((1ull << 31) + 11),
                                    static_cast<Offset>(many_elements)};
  const batch many = segments(x, array_view(std::span<const Offset>(offsets)));
  for (const std::string_view backend : backends_of_host) {
    std::vector<std::int64_t> sums(5);
    reduce(operation::sum, many, sums, {.backend = backend});
    for (std::size_t k = 0; k < sums.size(); ++k)
      CHECK(sums[k] == bytes_before(offsets[k + 1]) - bytes_before(offsets[k]));
  }
}

}  // namespace

TEST_SUITE("scale_on_host") {
  TEST_CASE("10^8 groups of f32, exact") {
    std::vector<float> x(many_groups::elements), sums(many_groups::count);
    std::vector<std::int32_t> keys(many_groups::elements);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = many_groups::element(i);
      keys[i] = many_groups::key(i);
    }
    const batch many = groups(x, keys, sums.size());
    for (const unsigned threads : {1u, 2u}) {
      const options exact{.backend = "openmp", .method = method::exact, .threads = threads};
      threads == 1 ? reduce(operation::sum, many, sums, exact) : add_to(many, sums, exact);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < sums.size(); ++k) {
        wrong += sums[k] == static_cast<float>(threads) * many_groups::sum(static_cast<std::int32_t>(k)) ? 0u : 1u;
      }
      CHECK(wrong == 0);
    }
  }

  TEST_CASE("rows of more than 2^31 elements") {
    const long_array<std::int8_t, decltype(&byte_at)> memory(&byte_at);
    const array_view x = memory.elements();
    const std::size_t half = many_elements / 2;
    const std::array<std::size_t, 2> one_row{1, many_elements}, pairs{2, half};
    for (const std::string_view backend : backends_of_host) {
      std::vector<std::int64_t> one(1), two(2);
      reduce(operation::sum, rows(x, one_row, std::array{1}), one, {.backend = backend});
      CHECK(one[0] == bytes_before(many_elements));
      const array_view even(x.data, 2 * half, x.type);
      reduce(operation::sum, rows(even, pairs, std::array{1}), two, {.backend = backend});
      CHECK(two[1] == bytes_before(2 * half) - bytes_before(half));
    }
  }

  TEST_CASE("more than 2^31 times the same element") {
    const std::vector<float> x{0.75f, 5, -3};
    const std::array<std::size_t, 2> shape{3, many_elements};
    const std::array<std::ptrdiff_t, 2> strides{1, 0};
    std::vector<float> sums(3);
    reduce(operation::sum, rows(array_view(std::span<const float>(x)), shape, std::array{1}, strides), sums,
           {.method = method::exact});
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(sums[k] == static_cast<float>(x[k] * static_cast<double>(many_elements)));
    const std::array<std::size_t, 2> columns{many_elements, 3};
    const std::array<std::ptrdiff_t, 2> across{0, 1};
    reduce(operation::sum, rows(array_view(std::span<const float>(x)), columns, std::array{0}, across), sums,
           {.method = method::exact});
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(sums[k] == static_cast<float>(x[k] * static_cast<double>(many_elements)));
  }

  TEST_CASE("segments of more than 2^31 elements") {
    const long_array<std::int8_t, decltype(&byte_at)> memory(&byte_at);
    check_segments<std::int64_t>(array_view(memory.elements()));
    check_segments<std::uint32_t>(array_view(memory.elements()));
    check_segments<std::uint64_t>(array_view(memory.elements()));
  }

  TEST_CASE("groups of more than 2^31 elements") {
    const long_array<std::int8_t, decltype(&byte_at)> memory(&byte_at);
    const auto key_at = [](std::size_t i) { return static_cast<std::int32_t>(i % 200); };
    const long_array<std::int32_t, decltype(key_at)> keys(key_at);
    constexpr std::size_t piece = decltype(keys)::piece;
    std::vector<std::int64_t> expected(199), sums(199);
    std::uint64_t absent = 0;
    for (std::size_t i = 0; i < many_elements; ++i) {
      const std::size_t key = i % piece % 200;
      key < 199 ? void(expected[key] += byte_at(i)) : void(++absent);
    }
    const batch many = groups(array_view(memory.elements()), array_view(keys.elements()), sums.size());
    for (const unsigned threads : {1u, 2u}) {
      const report told = reduce(operation::sum, many.drop_others(), sums, {.backend = "openmp", .threads = threads});
      CHECK(told.absent == absent);
      CHECK(sums == expected);
    }
  }
}

}  // namespace fanin::test
