// SPDX-License-Identifier: Apache-2.0
// Tests on every instruction set of this machine that groups of special values in host memory have the bits of each
// group's elements alone, for operations whose order does not matter.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/batches.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/targets.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t group_count = 5;
constexpr operation of_all_types[] = {operation::min,           operation::max,    operation::minmax,
                                      operation::argmin,        operation::argmax, operation::max_magnitude,
                                      operation::count_nonzero, operation::any,    operation::all};
constexpr operation of_integers[] = {operation::sum,      operation::sum_of_squares, operation::sum_of_magnitudes,
                                     operation::variance, operation::norm2,          operation::mean};

/// Small numbers, and among them the numbers at the ends of the type. `with_nan`: also NaN of both signs.
template <class T>
std::vector<T> special_values(std::size_t count, bool with_nan, std::uint64_t seed) {
  using limits = std::numeric_limits<T>;
  generator random(seed);
  std::vector<T> others{limits::lowest(), limits::max(), T(0)};
  if constexpr (floating<T>) {
    for (const T v : {T(-0.0F), limits::denorm_min(), limits::min()}) others.push_back(v);
    if constexpr (limits::has_infinity) others.insert(others.end(), {limits::infinity(), T(-limits::infinity())});
    if (with_nan) others.insert(others.end(), {limits::quiet_NaN(), T(-limits::quiet_NaN())});
  }
  std::vector<T> x(count);
  for (T& v : x) v = random() % 4 == 0 ? others[random() % others.size()] : T(static_cast<float>(random() % 7));
  return x;
}

template <class Key>
void check_groups(operation what, const array_view& x, unsigned threads) {
  CAPTURE(std::string(to_string(what)));
  CAPTURE(x.count);
  generator random(x.count);
  std::vector<Key> keys(x.count);
  for (std::size_t i = 0; i < x.count; ++i) {
    keys[i] = static_cast<Key>((i < group_count ? i : random()) % group_count);
  }
  const options chosen{.backend = threads == 1 ? "serial" : "openmp", .threads = threads};
  const batch many = groups(x, std::span<const Key>(keys), group_count);
  const batch_reduction found = call_each(find_backend(chosen.backend), what, many, chosen);
  const std::size_t bytes = byte_size(x.type);
  for (std::size_t g = 0; g < group_count; ++g) {
    std::vector<std::byte> alone;
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < x.count; ++i) {
      if (keys[i] != static_cast<Key>(g)) continue;
      const auto* const element = static_cast<const std::byte*>(x.data) + i * bytes;
      alone.insert(alone.end(), element, element + bytes);
      places.push_back(i);
    }
    scalar expected = reduce(what, array_view(alone.data(), places.size(), x.type), {.backend = "serial"}).value;
    const auto set_place = [&]<class R>(R& first) {
      if constexpr (result_traits<R>::form == result_form::indexed) first.index = places[first.index];
    };
    fanin::visit(set_place, expected);
    CHECK(same(found.values[g], expected));
  }
}

template <class T>
void check_type() {
  on_every_target([] {
    for (const std::size_t count : {5, 9, 127, 128, 129, 777, 20000}) {
      std::vector<T> x;
      const auto values = [&](bool with_nan, unsigned threads) {
        x = special_values<T>(count, with_nan, count + threads);
        return array_view(std::span<const T>(x));
      };
      for (const operation what : of_all_types) {
        check_groups<std::int64_t>(what, values(false, 1), 1);
        check_groups<std::uint64_t>(what, values(true, 1), 1);
        check_groups<std::uint32_t>(what, values(true, 3), 3);
      }
      if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) {
        for (const operation what : of_integers) {
          if (sizeof(T) == 4 && what == operation::sum_of_squares)
            continue;  // A few squares do not fit into 64 bits.
          check_groups<std::int64_t>(what, values(false, 1), 1);
          check_groups<std::int32_t>(what, values(false, 3), 3);
        }
      }
    }
  });
}

}  // namespace

TEST_SUITE("unit/keyed_terms") {
  TEST_CASE("keys of 64 bits that are the numbers of no group, at each place") {
    constexpr std::uint64_t others[] = {5, std::uint64_t{1} << 31, std::uint64_t{1} << 32,
                                        (std::uint64_t{3} << 32) + 2, ~std::uint64_t{0}};
    on_every_target([&] {
      for (const std::size_t count : {1, 7, 8, 16, 31, 129, 200}) {
        for (std::size_t place = 0; place < count; ++place) {
          CAPTURE(count);
          CAPTURE(place);
          std::vector<std::uint64_t> keys(count, 2);
          keys[place] = others[place % std::size(others)];
          std::vector<double> sums(5);
          const std::vector<double> ones(count, 1);
          const report found = fanin::sum(groups(ones, keys, 5).drop_others(), sums, options{.backend = "serial"});
          CHECK(found.absent == 1);
          CHECK(sums == std::vector<double>{0, 0, static_cast<double>(count - 1), 0, 0});
        }
      }
    });
  }

  TEST_CASE_TEMPLATE("groups of special floats", T, float, double, f16, bf16, e5m2, e4m3) { check_type<T>(); }
  TEST_CASE_TEMPLATE("groups of special integers", T, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                     std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    check_type<T>();
  }
}

}  // namespace fanin::test
