// SPDX-License-Identifier: Apache-2.0
// Groups of device memory: keys of every kind, also in graphs, and keys of no group.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_results.hpp"

namespace fanin::test {
namespace {

/// Keys below `groups`. `equal` of 8 keys are 0.
template <class Key = std::int32_t>
std::vector<Key> random_keys(std::size_t count, std::size_t groups, unsigned equal, std::uint64_t seed) {
  generator random(seed);
  std::vector<Key> keys(count);
  for (Key& key : keys) key = random() % 8 < equal ? Key{0} : static_cast<Key>(random() % groups);
  return keys;
}

/// The results of host memory, by `serial`.
template <class T, class Key>
std::vector<T> sums_of(const std::vector<T>& values, const std::vector<Key>& keys, std::size_t count) {
  std::vector<T> sums(count);
  fanin::sum(fanin::groups(values, keys, count).drop_others(), sums, {.backend = "serial", .method = method::exact});
  return sums;
}

/// Checks groups against the same numbers as keys of 64 bits. Some keys are of no group, and some types do not hold
/// the numbers of all groups.
template <class Key>
void check_key_type(const device_array<float>& x, const std::vector<float>& values, std::size_t group_count,
                    device_context& context) {
  using limits = std::numeric_limits<Key>;
  const auto in_type = std::min<std::uint64_t>(group_count - 1, static_cast<std::uint64_t>(limits::max())) + 1;
  auto keys = random_keys<Key>(values.size(), in_type, 0, 9);
  const Key others[] = {static_cast<Key>(-1), static_cast<Key>(group_count), limits::max(), limits::min()};
  for (std::size_t i = 20001; i < keys.size(); i += 5000) keys[i] = others[i / 5000 % std::size(others)];
  std::vector<std::int64_t> wide_keys(keys.size());
  std::ranges::transform(keys, wide_keys.begin(), [](Key key) { return static_cast<std::int64_t>(key); });
  const auto is_outside = [&](Key key) { return static_cast<std::uint64_t>(key) >= group_count; };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(keys, is_outside) - keys.begin());
  const device_array<Key> there{std::span<const Key>(keys)};
  const device_array<std::int64_t> wide_there{std::span<const std::int64_t>(wide_keys)};
  const batch many = device_groups(x.elements(), there, group_count);
  const batch wide = device_groups(x.elements(), wide_there, group_count);
  std::vector<float> found(group_count), same_keys(group_count);
  INFO("keys of " << to_string(type_of<Key>) << ", " << group_count << " groups");
  if (first < keys.size()) {
    CHECK_THROWS_WITH_AS(reduce(operation::sum, many, found, context),
                         doctest::Contains(("key " + std::to_string(first) + " is " + std::to_string(keys[first]) +
                                            ", and the last group is ")
                                               .c_str()),
                         invalid_argument);
  }
  const auto expected = sums_of(values, wide_keys, group_count);
  const report told = reduce(operation::sum, many.drop_others(), found, context, {.method = method::exact});
  CHECK(told.absent == static_cast<std::uint64_t>(std::ranges::count_if(keys, is_outside)));
  CHECK(all_same(found, expected));
  const device_results_memory<float> enqueued(group_count);
  for (const batch& one : {many, many.drop_others()}) {
    enqueue(operation::sum, one, enqueued, context, {.method = method::exact});
    wait_for(context);
    CHECK(all_same(enqueued.read(), expected));
  }
  for (const operation what : {operation::max, operation::variance, operation::product, operation::norm2}) {
    reduce(what, many.drop_others(), found, context);
    reduce(what, wide.drop_others(), same_keys, context);
    CHECK(all_same(found, same_keys));
  }
}

template <class T>
void overwrite(const device_array<T>& x, const std::vector<T>& values) {
  cuda::check(cudaMemcpy(x.data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
}

}  // namespace

TEST_SUITE("groups_enqueued") {
  TEST_CASE("exact sums are those of a CPU, for every number of groups and any keys") {
    if (!device_is_here()) return;
    device_context context;
    for_each_type<float, double>([&]<class T>(T) {
      for (const std::size_t count : {0, 1, 5, 4099, 200003}) {
        const auto values = mixed_values<T>(count, count);
        const device_array<T> x{std::span<const T>(values), 1};
        for (const std::size_t group_count : {1, 2, 16, 255, 256, 1000, 70000, 300000}) {
          for (const unsigned equal : {0u, 5u, 8u}) {
            const auto keys = random_keys(count, group_count, equal, group_count);
            const device_array<std::int32_t> there{std::span<const std::int32_t>(keys), 1};
            std::vector<T> found(group_count);
            const auto expected = sums_of(values, keys, group_count);
            INFO(count << " elements, " << group_count << " groups, " << equal << " in 8 keys equal");
            for (const method how : {method::exact, method::fast}) {
              const report told = reduce(operation::sum, device_groups(x.elements(), there, group_count), found,
                                         context, {.method = how});
              CHECK(all_same(found, expected));
              CHECK(told.method == how);
              CHECK(told.reproducibility == reproducibility::exact);
            }
            CHECK(there.untouched());
          }
        }
        CHECK(x.untouched());
      }
    });
  }

  TEST_CASE("sums of numbers far apart, of zeros, of infinities and NaN") {
    if (!device_is_here()) return;
    device_context context;
    for_each_type<float, double>([&]<class T>(T) {
      using limits = std::numeric_limits<T>;
      const std::vector<T> kinds[] = {
          {T(-0.0)},
          {T(-0.0), T(0)},
          {T(-0.0), T(1)},
          {limits::denorm_min(), -limits::min(), T(1)},
          {limits::max(), -limits::max(), limits::denorm_min(), T(-3)},
          {limits::max(), limits::max(), T(1)},
          {T(1), T(2), T(-limits::infinity())},
          {limits::infinity(), -limits::infinity(), T(1)},
          {T(1), limits::quiet_NaN()},
      };
      const std::size_t count = 30011;
      generator random(21);
      for (const auto& kind : kinds) {
        for (const std::size_t group_count : {1, 100, 5000, 100000}) {
          std::vector<T> values(count, kind.front());
          for (std::size_t i = 0; i < count; i += 300) values[i] = kind[random() % kind.size()];
          const auto keys = random_keys(count, group_count, 1, 2);
          const device_array<T> x{std::span<const T>(values)};
          const device_array<std::int32_t> there{std::span<const std::int32_t>(keys)};
          std::vector<T> found(group_count);
          reduce(operation::sum, device_groups(x.elements(), there, group_count), found, context,
                 {.method = method::exact});
          INFO(group_count << " groups, most elements are " << kind.front());
          CHECK(all_same(found, sums_of(values, keys, group_count)));
        }
      }
    });
  }

  TEST_CASE("keys of all types; elements that are dropped, and counted") {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 50021;
    const auto values = mixed_values<float>(count, 3);
    const device_array<float> x{std::span<const float>(values)};
    for_each_integer([&]<class Key>(Key) {
      for (const std::size_t group_count : {200, 777, 65000}) check_key_type<Key>(x, values, group_count, context);
    });
  }

  TEST_CASE("an index is that in the input, and that of an empty group the caller's") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<double> values{3, 1, 4, 1, 5, 9};
    const std::vector<std::int32_t> keys{2, 0, 2, 0, 2, 0};
    const device_array<double> x{std::span<const double>(values)};
    const device_array<std::int32_t> there{std::span<const std::int32_t>(keys)};
    const batch many = device_groups(x.elements(), there, 3);
    std::vector<indexed<double>> found(3);
    CHECK_THROWS_WITH_AS(reduce(operation::argmin, many, found, context), doctest::Contains("group 1"),
                         invalid_argument);
    reduce(operation::argmin, many.if_empty(indexed<double>{0, 99}), found, context);
    CHECK(found == std::vector<indexed<double>>{{1, 1}, {0, 99}, {3, 0}});
    reduce(operation::argmax, many.if_empty(indexed<double>{0, 99}), found, context);
    CHECK(found == std::vector<indexed<double>>{{9, 5}, {0, 99}, {5, 4}});
  }

  TEST_CASE("exact results do not depend on the order of the elements") {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 100003, group_count = 50;
    auto values = mixed_values<double>(count, 8);
    auto keys = random_keys(count, group_count, 3, 8);
    std::vector<double> first;
    generator random(5);
    for (int round = 0; round < 4; ++round) {
      const device_array<double> x{std::span<const double>(values)};
      const device_array<std::int32_t> there{std::span<const std::int32_t>(keys)};
      std::vector<double> found(group_count);
      reduce(operation::variance, device_groups(x.elements(), there, group_count), found, context,
             {.method = method::exact});
      if (round == 0) first = found;
      CHECK(all_same(found, first));
      for (std::size_t i = count; i-- > 1;) {
        const std::size_t other = random() % (i + 1);
        std::swap(values[i], values[other]);
        std::swap(keys[i], keys[other]);
      }
    }
  }

  TEST_CASE("a graph is replayed with other elements and other keys") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get()), waiting;
    const std::size_t count = 1 << 20, few = 16, several = 3000;
    const device_array<float> x{std::span<const float>(std::vector<float>(count))};
    const device_array<std::int32_t> keys{std::span<const std::int32_t>(std::vector<std::int32_t>(count))};
    const batch in_few = device_groups(x.elements(), keys, few).drop_others();
    const batch in_several = device_groups(x.elements(), keys, several).drop_others();
    const device_results_memory<float> exact(several), fast(several), exact_of_few(few);
    const captured_graph graph(stream.get(), [&] {
      enqueue(operation::sum, in_several, exact, context, {.method = method::exact});
      enqueue(operation::sum, in_several, fast, context, {.method = method::fast});
      enqueue(operation::sum, in_few, exact_of_few, context, {.method = method::exact});
    });
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto values = mixed_values<float>(count, seed);
      const auto of_values = random_keys(count, seed == 1 ? few : several + 1, seed == 3 ? 8 : 1, seed);
      overwrite(x, values);
      overwrite(keys, of_values);
      graph.replay();
      CHECK(all_same(exact.read(), sums_of(values, of_values, several)));
      CHECK(all_same(exact_of_few.read(), sums_of(values, of_values, few)));
      std::vector<float> waited(several);
      reduce(operation::sum, in_several, waited, waiting, {.method = method::fast});
      CHECK(all_same(fast.read(), waited));
    }
  }
}

}  // namespace fanin::test
