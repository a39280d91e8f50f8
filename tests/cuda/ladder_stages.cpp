// SPDX-License-Identifier: Apache-2.0
// Every stage of the ladder on a GPU: sizes, types, operations, block sizes, alignments, special values.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "tests/cuda/device_memory.hpp"
#include "tests/cuda/ladder_broken.hpp"
#include "tests/cuda/ladder_check.hpp"

namespace fanin::test {
namespace {

template <class T>
std::string faults_at(std::span<const cuda::stage_info> stages, std::size_t count, std::size_t offset,
                      std::initializer_list<unsigned> block_sizes) {
  const device_input<T> x(mixed_values<T>(count, count + offset), offset);
  const expectation<T> expected(x.host());
  std::string faults;
  for (const auto& stage : stages) {
    for (const operation what : cuda::ladder_operations) {
      if (!serves(stage, what, type_of<T>)) continue;
      for (const unsigned block_size : block_sizes) faults += fault_of(stage, what, x, expected, block_size);
    }
  }
  if (!x.untouched()) faults += "the input was changed\n";
  return faults;
}

/// A short test for tools that slow kernels down a thousand times.
template <class T>
void check_few_sizes() {
  for (const std::size_t count : {1, 33, 1025, 4099}) {
    CHECK(faults_at<T>(cuda::stages(), count, 0, {256}) == "");
    CHECK(faults_at<T>(cuda::stages(), count, 1, {101}) == "");
  }
}

template <class T>
void check_small_sizes() {
  for (const std::size_t count : {0, 1, 2, 31, 32, 33, 101, 128, 255, 256, 257, 511, 513, 1025, 2047, 2049, 4099}) {
    CHECK(faults_at<T>(cuda::stages(), count, 0, {32, 256, 1024}) == "");
    CHECK(faults_at<T>(cuda::stages(), count, 1, {96, 1000}) == "");
    CHECK(faults_at<T>(cuda::stages(), count, 3, {101, 512}) == "");
  }
}

template <class T>
void check_large_sizes() {
  constexpr std::size_t chunk = 32 * 1024 / sizeof(T);
  for (const std::size_t count : {chunk - 1, chunk + 1, 6 * chunk + 5, std::size_t{1} << 20}) {
    CHECK(faults_at<T>(cuda::stages(), count, 0, {128, 256, 512}) == "");
    CHECK(faults_at<T>(cuda::stages(), count, 1, {32, 480}) == "");
  }
  for (const std::size_t count : {std::size_t{1} << 24, (std::size_t{1} << 24) + 1}) {
    CHECK(faults_at<T>(cuda::stages(), count, count % 2, {0, 256}) == "");
  }
}

/// Every stage finds the same value for x.
template <class T, class Value>
void check_values(operation what, std::vector<T> x, Value wanted) {
  const device_input<T> input(std::move(x), 1);
  for (const auto& stage : cuda::stages()) {
    if (!serves(stage, what, type_of<T>)) continue;
    CAPTURE(stage.text.name);
    CAPTURE(to_string(what));
    stage_run once(plan_stage(stage, what, type_of<T>, input.host().size(), 64));
    once.prepare(input.device());
    once.run(input.device());
    CHECK(same(once.value(), scalar(wanted)));
  }
}

template <class T>
void check_special_values() {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> minus_zeros(1000, T{-0.0});
  check_values(operation::sum, minus_zeros, T{-0.0});
  check_values(operation::sum_of_squares, minus_zeros, T{0});
  auto zeros = minus_zeros;
  zeros[997] = 0;
  check_values(operation::sum, zeros, T{0});

  std::vector<T> ones(1000, 1);
  for (const std::size_t at : {0, 500, 999}) {
    auto x = ones;
    x[at] = -nan;
    for (const auto what : cuda::ladder_operations) check_values(what, x, nan);
    x[at] = -infinity;
    check_values(operation::sum, x, -infinity);
    check_values(operation::sum_of_squares, x, infinity);
    x[(at + 1) % 1000] = infinity;
    check_values(operation::sum, x, nan);
    check_values(operation::sum_of_squares, x, infinity);
  }
}

bool serves_by_table(const cuda::stage_info& stage, operation what, element_type type) {
  return stage.at(what, type).architecture >= 75;
}

int fastest_clock_khz() {
  int khz = 0;
  cuda::check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "cudaDeviceGetAttribute");
  return khz;
}

TEST_SUITE_BEGIN("cuda/table");

TEST_CASE("the table names every stage once and in an order that builds") {
  std::set<std::string_view> known = {""};
  int number = 0;
  for (const auto& stage : cuda::stages()) {
    CAPTURE(stage.text.name);
    CHECK(known.count(stage.text.builds_on) == 1);
    CHECK(known.insert(stage.text.name).second);
    CHECK(stage.text.number >= number);
    CHECK(stage.text.story != "");
    CHECK(&cuda::find_stage(stage.text.name) == &stage);
    number = stage.text.number;
    for (const auto type : cuda::ladder_types) {
      CAPTURE(to_string(type));
      const bool adds_integers_only = stage.text.name == "warp-redux", squares = stage.text.name == "shared-mask";
      CHECK(serves_by_table(stage, operation::sum, type) == (!adds_integers_only || is_integer(type)));
      CHECK(serves_by_table(stage, operation::sum_of_squares, type) == squares);
      CHECK((stage.at(operation::sum, type).copy != nullptr) == stage.in_place);
    }
    for (const auto what : {operation::product, operation::min, operation::max, operation::mean}) {
      CHECK_FALSE(serves_by_table(stage, what, element_type::f32));
    }
    CHECK_FALSE(serves_by_table(stage, operation::sum, element_type::i64));
  }
  CHECK(number == 23);
  CHECK_THROWS_AS(cuda::find_stage("global-neighboured"), invalid_argument);
}

TEST_CASE("stages round the block size as they say") {
  for (const auto& stage : cuda::stages()) {
    for (unsigned threads = 32; threads <= 1024; threads += 32) {
      const unsigned rounded = stage.rounded(threads);
      CHECK(rounded % 32 == 0);
      CHECK(rounded <= threads);
      CHECK(rounded >= 32);
      if (stage.text.name != "unroll-complete") CHECK(rounded == threads);
    }
  }
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("cuda/ladder");

TEST_CASE_TEMPLATE("few sizes", T, float, double, std::int32_t) {
  if (device_is_here()) check_few_sizes<T>();
}
TEST_CASE_TEMPLATE("small sizes", T, float, double, std::int32_t) {
  if (device_is_here()) check_small_sizes<T>();
}
TEST_CASE_TEMPLATE("large sizes", T, float, double, std::int32_t) {
  if (device_is_here()) check_large_sizes<T>();
}

TEST_CASE("special values") {
  if (!device_is_here()) return;
  check_special_values<float>();
  check_special_values<double>();
}

TEST_CASE("integers at the ends of their range") {
  if (!device_is_here()) return;
  constexpr auto least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  for (const std::int32_t end : {least, most})
    check_values(operation::sum, std::vector(3000, end), 3000 * std::int64_t{end});
  constexpr std::int64_t square = std::int64_t{least} * least;
  check_values(operation::sum_of_squares, std::vector{least, 2}, square + 4);

  const device_input<std::int32_t> too_large({least, least}, 0);
  stage_run once(plan_stage(cuda::find_stage("shared-mask"), operation::sum_of_squares, element_type::i32, 2, 64));
  once.prepare(too_large.device());
  once.run(too_large.device());
  CHECK_THROWS_AS(static_cast<void>(once.value()), overflow);
}

TEST_CASE("broken stages are caught") {
  if (!device_is_here()) return;
  for (const auto& stage : broken_stages()) {
    CAPTURE(stage.text.name);
    CHECK(faults_at<float>({&stage, 1}, 1000, 0, {128}) != "");
    CHECK(faults_at<std::int32_t>({&stage, 1}, 1000, 0, {128}) != "");
  }
}

TEST_CASE("every block counts its cycles") {
  if (!device_is_here()) return;
  const device_input<float> x(mixed_values<float>(100000, 1), 0);
  for (const auto& stage : cuda::stages()) {
    if (!serves(stage, operation::sum, element_type::f32)) continue;
    CAPTURE(stage.text.name);
    stage_run once(plan_stage(stage, operation::sum, element_type::f32, x.host().size()));
    once.prepare(x.device());
    const auto begin = std::chrono::steady_clock::now();
    once.run(x.device(), true);
    once.value();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    const auto most = static_cast<long long>(elapsed.count() * fastest_clock_khz());
    const auto counted = once.cycles();
    CHECK(std::all_of(counted.begin(), counted.end(), [&](long long c) { return c > 0 && c < most; }));
  }
}

TEST_CASE("plans refuse what cannot be") {
  if (!device_is_here()) return;
  const auto& any = cuda::find_stage("grid-stride");
  constexpr std::uint64_t too_many = (std::uint64_t{1} << 32) + 1;
  CHECK_THROWS_AS(plan_stage(any, operation::sum, element_type::i32, too_many), invalid_argument);
  CHECK_THROWS_AS(plan_stage(any, operation::sum, element_type::f32, 1, 1056), invalid_argument);
  CHECK_THROWS_AS(plan_stage(any, operation::mean, element_type::f32, 1), unsupported);
  CHECK_THROWS_AS(plan_stage(cuda::find_stage("warp-redux"), operation::sum, element_type::f32, 1), unsupported);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::test
