// SPDX-License-Identifier: Apache-2.0
// Batches of device memory by cub. Each result is the result of its elements alone, in its bits or within its
// bound.
#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_results.hpp"
#include "tests/support/batches.hpp"

namespace fanin::test {
namespace {

constexpr operation operations[] = {operation::sum, operation::mean, operation::product, operation::min,
                                    operation::max};

/// A batch of device memory without a result of no elements, and the places of the elements of each result.
struct device_case {
  std::string name;
  batch many;
  std::vector<std::vector<std::size_t>> places;
};

template <class T>
void check_case(operation what, const std::vector<T>& values, const device_case& one) {
  const options chosen{.backend = "cub", .method = method::fast};
  const options by_serial{.backend = "serial", .method = method::fast};
  with_result_type(what, default_result(what, type_of<T>), [&]<class R>() {
    std::vector<R> found(one.many.result_count);
    const report told_by = reduce(what, one.many, found, chosen);
    CHECK(told_by.backend == "cub");
    const bool exact = told_by.reproducibility == reproducibility::exact;
    CHECK(exact == (is_integer(type_of<T>) || row_of(what).unrounded));
    for (std::size_t k = 0; k < found.size(); ++k) {
      std::vector<T> elements;
      for (const std::size_t place : one.places[k]) elements.push_back(values[place]);
      const std::span<const T> alone(elements);
      INFO(told(what, alone, chosen) << ", " << one.name << ", result " << k << ": " << shown(found[k]));
      if (exact) {
        CHECK(same(found[k], reduce(what, input_views(alone), by_serial).value));
      } else if (!elements.empty()) {
        CHECK(oracle::truth(what, alone, 1).judge(found[k], told_by) != oracle::promise::broken);
      }
    }
  });
}

template <class T>
void check_type(operation what) {
  const auto values = values_for<T>(what, 30000, 9);
  const device_array<T> x{std::span<const T>(values), 1};
  const auto check = [&](const device_case& one) { check_case(what, values, one); };
  const auto check_rows = [&](const std::vector<std::size_t>& shape, const std::vector<std::ptrdiff_t>& strides,
                              int axis) {
    std::vector<bool> is_reduced(shape.size());
    is_reduced[static_cast<std::size_t>(axis)] = true;
    device_case one{"rows of " + std::to_string(shape[0]) + " along axis " + std::to_string(axis),
                    rows(x.elements(), shape, std::array{axis}, strides),
                    {}};
    for (const auto& row : places_of_rows(shape, strides, is_reduced))
      one.places.emplace_back(row.begin(), row.end());
    check(one);
  };
  check_rows({100, 300}, {300, 1}, 0);
  check_rows({100, 300}, {300, 1}, 1);
  check_rows({1, 30000}, {30000, 1}, 1);
  check_rows({5, 4, 3}, {12, 3, 1}, 1);
  check_rows({40, 70}, {100, 2}, 1);
  const std::vector<std::int32_t> ends{7, 8, 5008, 5015, 29000};  // elements before and behind are of no segment
  const device_array<std::int32_t> offsets{std::span<const std::int32_t>(ends)};
  device_case pieces{"segments", device_segments(x.elements(), offsets, 4), std::vector<std::vector<std::size_t>>(4)};
  for (std::size_t k = 0; k < 4; ++k) {
    pieces.places[k].resize(static_cast<std::size_t>(ends[k + 1] - ends[k]));
    std::iota(pieces.places[k].begin(), pieces.places[k].end(), static_cast<std::size_t>(ends[k]));
  }
  check(pieces);
  std::vector<std::int64_t> keys(values.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>((7 * i + i / 1000) % 43) - 1;
  const device_array<std::int64_t> keys_there{std::span<const std::int64_t>(keys)};
  std::vector<std::vector<std::size_t>> places(42);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] >= 0) places[static_cast<std::size_t>(keys[i])].push_back(i);
  }
  check({"groups", device_groups(x.elements(), keys_there, 42).drop_others(), places});
}

}  // namespace

TEST_SUITE("reference_batches") {
  TEST_CASE("cub reduces rows, segments and groups") {
    if (!device_is_here()) return;
    for_each_type<float, double, std::int32_t, std::int64_t>([&]<class T>(T) {
      for (const operation what : operations) check_type<T>(what);
    });
  }

  TEST_CASE("results without elements, results that are added to, and what is refused") {
    if (!device_is_here()) return;
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    const std::vector<std::int32_t> keys{0, 2, 0, 2, 0, 2}, wrong{0, 2, 0, 3, 0, 2}, descending{0, 4, 3, 6};
    const std::vector<std::uint8_t> present{1, 1, 0, 1, 1, 1};
    const device_array<double> x{std::span<const double>(values)};
    const device_array<std::int32_t> keys_there{std::span<const std::int32_t>(keys)};
    const device_array<std::int32_t> wrong_there{std::span<const std::int32_t>(wrong)};
    const device_array<std::int32_t> offsets{std::span<const std::int32_t>(descending)};
    const device_array<std::uint8_t> mask{std::span<const std::uint8_t>(present)};
    const batch in_groups = device_groups(x.elements(), keys_there, 3);
    const input_views masked = input_views(x.elements()).where({mask.data(), 0, mask_form::bytes});
    const options chosen{.backend = "cub", .method = method::fast};
    std::vector<double> found(3);
    CHECK(reduce(operation::sum, in_groups, found, chosen).reproducibility == reproducibility::none);
    CHECK(found == std::vector<double>{9, 0, 12});
    reduce(operation::max, in_groups.if_empty(-1.0), found, chosen);
    CHECK(found == std::vector<double>{5, -1, 6});
    add_to(operation::sum, in_groups, found, chosen);
    CHECK(found == std::vector<double>{14, -1, 18});
    const auto refuses = [&](operation what, const batch& many) { reduce(what, many, found, chosen); };
    CHECK_THROWS_AS(refuses(operation::sum, device_groups(x.elements(), wrong_there, 3)), invalid_argument);
    CHECK_THROWS_AS(refuses(operation::sum, device_segments(x.elements(), offsets, 3)), invalid_argument);
    CHECK_THROWS_AS(refuses(operation::sum, device_groups(masked, keys_there, 3)), unsupported);
    CHECK_THROWS_AS(refuses(operation::variance, in_groups), unsupported);
    const options by_thrust{.backend = "thrust", .method = method::fast};
    CHECK_THROWS_AS(reduce(operation::sum, in_groups, found, by_thrust), unsupported);
    const options in_turn{.backend = "cub,cuda", .method = method::fast};
    const report passed = reduce(operation::sum, device_groups(masked, keys_there, 3), found, in_turn);
    CHECK(passed.backend == "cuda");
    REQUIRE(passed.fallback.size() == 1);
    CHECK(passed.fallback[0].why == reason::unsupported);
    CHECK(found == std::vector<double>{6, 0, 12});
  }
}

}  // namespace fanin::test
