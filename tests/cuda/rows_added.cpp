// SPDX-License-Identifier: Apache-2.0
// Rows of device memory that keys scatter: each sum is the rounded exact sum of its elements, for all types and keys.
#include <fanin/accumulator/exact.hpp>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_results.hpp"

namespace fanin::test {
namespace {

template <class T>
array_view rows_there(const device_array<T>& x, std::size_t count) {
  return {x.data(), count, type_of<T>, memory::device};
}

/// The sums of columns, where keys of no group are left out. An empty base is none.
template <class T, class Key>
std::vector<T> sums_of_rows(const std::vector<T>& x, const std::vector<Key>& keys, std::size_t columns,
                            const std::vector<T>& base, std::size_t groups) {
  std::vector<exact_accumulator<computed_as<T>>> sums(groups * columns);
  for (std::size_t i = 0; i < base.size(); ++i) sums[i].add(base[i]);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (static_cast<std::uint64_t>(keys[i]) >= groups) continue;
    for (std::size_t c = 0; c < columns; ++c) sums[keys[i] * columns + c].add(x[i * columns + c]);
  }
  std::vector<T> rounded;
  for (const auto& one : sums) rounded.push_back(one.template round<T>());
  return rounded;
}

/// Keys below `groups`, of which `equal` of 8 are 1. One is of no group.
template <class Key>
std::vector<Key> keys_of_rows(std::size_t count, std::size_t groups, unsigned equal) {
  generator random(groups + equal);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(random() % 8 < equal ? 1 : random() % groups);
  if (count > 0) keys[count / 2] = static_cast<Key>(-1);
  return keys;
}

template <class T, class Key>
void check_added_rows(std::size_t count, std::size_t columns, std::size_t groups, unsigned equal, std::size_t offset,
                      device_context& context) {
  INFO(count << " rows of " << columns << " columns, " << groups << " groups, " << equal << " in 8 keys equal");
  const auto values = mixed_values<T>(count * columns, count + columns),
             before = mixed_values<T>(groups * columns, 7);
  const auto keys = keys_of_rows<Key>(count, groups, equal);
  const device_array<T> x(values, offset), base(before, offset);
  const device_array<Key> there{std::span<const Key>(keys)};
  const auto rows = rows_there(x, values.size()), of_base = rows_there(base, before.size());
  const auto names = rows_there(there, count);
  const device_results_memory<T> apart(groups * columns);
  enqueue_add_rows(rows, names, columns, of_base, apart, context);
  wait_for(context);
  CHECK(all_same(apart.read(), sums_of_rows(values, keys, columns, before, groups)));
  CHECK(base.untouched());
  enqueue_add_rows(rows, names, columns, array_view(nullptr, 0, type_of<T>, memory::device), apart, context);
  wait_for(context);
  CHECK(all_same(apart.read(), sums_of_rows<T>(values, keys, columns, {}, groups)));
  CHECK(x.untouched());
  CHECK(there.untouched());
}

}  // namespace

TEST_SUITE("rows_added") {
  TEST_CASE("sums are exact for every type, shape and number of groups") {
    if (!device_is_here()) return;
    device_context context;
    for_each_type<float, double, f16, bf16>([&]<class T>(T) {
      check_added_rows<T, std::int64_t>(0, 8, 5, 0, 0, context);
      check_added_rows<T, std::int32_t>(1, 1, 2, 0, 0, context);
      check_added_rows<T, std::int8_t>(1000, 7, 30, 0, 1, context);
      check_added_rows<T, std::uint16_t>(3000, 256, 700, 0, 0, context);
      check_added_rows<T, std::uint64_t>(3000, 264, 5, 4, 0, context);
      check_added_rows<T, std::uint32_t>(5000, 2056, 900, 7, 0, context);
      check_added_rows<T, std::int64_t>(70000, 3, 2, 8, 0, context);
    });
  }

  TEST_CASE("a graph adds in place, to the results of the run before, with other keys") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get());
    const std::size_t count = 4000, columns = 64, groups = 50;
    const auto values = mixed_values<float>(count * columns, 3);
    const device_array<float> x{std::span<const float>(values)};
    const device_array<std::int32_t> keys{std::span<const std::int32_t>(std::vector<std::int32_t>(count))};
    const device_results_memory<float> results(groups * columns);
    const results_view out = results;
    const captured_graph graph(stream.get(), [&] {
      enqueue_add_rows(rows_there(x, values.size()), rows_there(keys, count), columns,
                       array_view(out.data, out.count, out.type, memory::device), out, context);
    });
    std::vector<float> expected(groups * columns);
    for (const unsigned equal : {0u, 6u, 8u}) {
      const auto now = keys_of_rows<std::int32_t>(count, groups, equal);
      cuda::check(cudaMemcpy(keys.data(), now.data(), count * sizeof now[0], cudaMemcpyHostToDevice), "cudaMemcpy");
      graph.replay();
      expected = sums_of_rows(values, now, columns, expected, groups);
      CHECK(all_same(results.read(), expected));
    }
  }

  TEST_CASE("what does not fit together is refused") {
    if (!device_is_here()) return;
    device_context context;
    const device_array<float> x{std::span<const float>(std::vector<float>(12))};
    const device_array<std::int32_t> keys{std::span<const std::int32_t>(std::vector<std::int32_t>(3))};
    const device_results_memory<float> results(8);
    const auto rows = rows_there(x, 12), names = rows_there(keys, 3), base = rows_there(x, 8);
    const auto add = [&](array_view r, array_view k, std::size_t columns, array_view b) {
      enqueue_add_rows(r, k, columns, b, results, context);
    };
    for (const std::size_t columns : {std::size_t{0}, std::size_t{3}, std::size_t{12}}) {
      CHECK_THROWS_WITH_AS(add(rows, names, columns, base), doctest::Contains("do not fit"), invalid_argument);
    }
    CHECK_THROWS_WITH_AS(add(rows, names, 4, rows), doctest::Contains("do not fit"), invalid_argument);
    CHECK_THROWS_WITH_AS(add(rows, base, 4, base), doctest::Contains("keys are integers"), invalid_argument);
    array_view other = base;
    other.type = element_type::f16;
    CHECK_THROWS_WITH_AS(add(rows, names, 4, other), doctest::Contains("one type"), invalid_argument);
    other = base;
    other.place = memory::host;
    CHECK_THROWS_WITH_AS(add(rows, names, 4, other), doctest::Contains("device memory"), invalid_argument);
    other = rows;
    other.type = element_type::i32;
    CHECK_THROWS_WITH_AS(add(other, names, 4, base), doctest::Contains("not i32"), unsupported);
  }
}

}  // namespace fanin::test
