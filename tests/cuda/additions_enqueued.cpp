// SPDX-License-Identifier: Apache-2.0
// Results to which batches of device memory are added: on the device and on the host, waiting, enqueued, and in
// graphs.
#include <algorithm>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_results.hpp"

namespace fanin::test {
namespace {

template <class R>
void overwrite(const results_view& out, const std::vector<R>& values) {
  cuda::check(cudaMemcpy(out.data, values.data(), values.size() * sizeof(R), cudaMemcpyHostToDevice), "cudaMemcpy");
}

/// Checks that the batch `there` is added to results as `serial` adds the same one of host memory.
template <class R>
void check_added(operation what, const batch& there, const batch& here, const std::vector<R>& earlier,
                 device_context& context, const options& chosen) {
  INFO(to_string(what) << " of " << to_string(there.inputs.type()) << " to " << to_string(type_of<R>));
  options by_serial = chosen;
  by_serial.backend = "serial";
  std::vector<R> expected = earlier, waited = earlier, without_context = earlier;
  const report wanted = add_to(what, here, expected, by_serial);
  CHECK(add_to(what, there, waited, context, chosen).absent == wanted.absent);
  CHECK(all_same(waited, expected));
  CHECK(add_to(what, there, without_context, chosen).backend == "cuda");
  CHECK(all_same(without_context, expected));
  const device_results_memory<R> results(earlier.size());
  overwrite(results, earlier);
  add_to(what, there, results, context, chosen);
  CHECK(all_same(results.read(), expected));
  overwrite(results, earlier);
  enqueue_add_to(what, there, results, context, chosen);
  wait_for(context);
  CHECK(all_same(results.read(), expected));
}

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_SUITE("additions_enqueued") {
  TEST_CASE("exact sums are added to as on a CPU") {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 200000;
    for_each_type<float, double>([&]<class T>(T) {
      auto values = mixed_values<T>(count, 3);
      for (std::size_t i = 100000; i < count; ++i) values[i] = T(-0.0);
      const device_array<T> x{std::span<const T>(values), 1};
      const auto check = [&](const batch& there, const batch& here) {
        const auto earlier = mixed_values<T>(there.result_count, 8);
        check_added(operation::sum, there, here, earlier, context, {.method = method::exact});
        for (const T zero : {T(-0.0), T(0.0)}) {
          check_added(operation::sum, there, here, std::vector<T>(there.result_count, zero), context,
                      {.method = method::exact});
        }
        check_added(operation::sum, there, here, std::vector<double>(there.result_count, 0x1p70), context,
                    {.method = method::exact});
        check_added(operation::max, there, here, earlier, context, {});
      };
      const input_views inputs = array_view(std::span<const T>(values));
      for (const std::size_t rows : {2, 100, 50000}) {
        const std::size_t shape[] = {rows, count / rows};
        for (const int axis : {0, 1}) {
          INFO(rows << " rows, axis " << axis);
          check(fanin::rows(x.elements(), shape, std::array{axis}), fanin::rows(inputs, shape, std::array{axis}));
        }
      }
      generator random(4);
      std::vector<std::int32_t> offsets(1001);
      for (auto& offset : offsets) offset = static_cast<std::int32_t>(random() % count);
      std::ranges::sort(offsets);
      offsets[1] = offsets[0];
      const device_array<std::int32_t> there{std::span<const std::int32_t>(offsets)};
      check(device_segments(x.elements(), there, 1000), segments(inputs, std::span<const std::int32_t>(offsets)));
      for (const std::size_t group_count : {1, 19, 5000, 70000, 300000}) {
        INFO(group_count << " groups");
        std::vector<std::int32_t> keys(count);
        for (auto& key : keys) key = static_cast<std::int32_t>(random() % group_count);
        const device_array<std::int32_t> keys_there{std::span<const std::int32_t>(keys)};
        check(device_groups(x.elements(), keys_there, group_count),
              groups(inputs, std::span<const std::int32_t>(keys), group_count));
      }
    });
  }

  TEST_CASE("masked elements, and integers whose total does not fit") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<std::int64_t> values{most, most, 1, 1, 5, 7, 8};
    const std::vector<std::int32_t> keys{0, 0, 1, 1, 2, 9, 3}, offsets{0, 2, 4, 5};
    const std::vector<std::uint8_t> present{1, 1, 1, 1, 1, 1, 0};
    const device_array<std::int64_t> x{std::span<const std::int64_t>(values)};
    const device_array<std::int32_t> keys_there{std::span<const std::int32_t>(keys)};
    const device_array<std::int32_t> offsets_there{std::span<const std::int32_t>(offsets)};
    const device_array<std::uint8_t> mask{std::span<const std::uint8_t>(present)};
    const std::vector<std::int64_t> earlier{-most, most, 7}, expected{most, most, 12};
    const batch pieces = device_segments(x.elements(), offsets_there, 3);
    const device_results_memory<std::int64_t> results(3);
    for (const bool waits : {true, false}) {
      overwrite(results, earlier);
      if (waits) {
        CHECK_THROWS_WITH_AS(add_to(operation::sum, pieces, results, context), doctest::Contains("segment 1: "),
                             overflow);
      } else {
        enqueue_add_to(operation::sum, pieces, results, context);
        wait_for(context);
      }
      CHECK(results.read() == expected);
    }
    const input_views masked = input_views(x.elements()).where({mask.data(), 0, mask_form::bytes});
    std::vector<std::int64_t> four{-most, 3, 7, 8};
    CHECK(add_to(operation::sum, device_groups(masked, keys_there, 4).drop_others(), four, context).absent == 2);
    CHECK(four == std::vector<std::int64_t>{most, 5, 12, 8});
  }

  TEST_CASE("nothing is added where an offset or a key is wrong") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<float> values{1, 2, 3, 4, 5, 6}, earlier{1, 2, 3};
    const std::vector<std::int32_t> keys{0, 1, 2, 0, 3, 1}, offsets{0, 4, 3, 6};
    const device_array<float> x{std::span<const float>(values)};
    const device_array<std::int32_t> keys_there{std::span<const std::int32_t>(keys)};
    const device_array<std::int32_t> offsets_there{std::span<const std::int32_t>(offsets)};
    const device_results_memory<float> results(3);
    const batch pieces = device_segments(x.elements(), offsets_there, 3);
    const batch of_keys = device_groups(x.elements(), keys_there, 3);
    for (const auto& [what, many] : {std::pair(operation::sum, pieces), std::pair(operation::sum, of_keys),
                                     std::pair(operation::max, of_keys)}) {
      std::vector<float> here = earlier;
      overwrite(results, earlier);
      CHECK_THROWS_AS(add_to(what, many, here, context), invalid_argument);
      CHECK_THROWS_AS(add_to(what, many, results, context), invalid_argument);
      enqueue_add_to(what, many, results, context);
      wait_for(context);
      CHECK(results.read() == earlier);
      CHECK(here == earlier);
    }
    std::vector<float> here = earlier;
    add_to(operation::sum, of_keys.drop_others(), here, context);
    CHECK(here == std::vector<float>{6, 10, 6});
  }

  TEST_CASE("a graph adds each time, a plan too, and what is refused") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get());
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    const device_array<float> x{std::span<const float>(values)};
    const std::size_t shape[] = {2, 3};
    const batch there = rows(x.elements(), shape, std::array{1});
    const device_results_memory<float> results(2);
    overwrite(results, std::vector<float>{0.5f, 0});
    const captured_graph graph(stream.get(), [&] { enqueue_add_to(operation::sum, there, results, context); });
    graph.replay();
    graph.replay();
    CHECK(results.read() == std::vector<float>{12.5f, 30});

    std::vector<float> found{1, 2};
    const plan planned = plan::of_add_to(operation::sum, element_type::f32, layout::rows, {}, memory::device);
    CHECK(planned(there, found).backend == "cuda");
    CHECK(found == std::vector<float>{7, 17});
    CHECK_THROWS_AS(add_to(operation::mean, there, found, context), unsupported);
    CHECK_THROWS_AS(enqueue_add_to(operation::sum, there.if_empty(0.0f), results, context), invalid_argument);
    CHECK_THROWS_AS(enqueue_add_to(operation::sum, there, found, context), invalid_argument);
    CHECK_THROWS_AS(
        add_to(operation::sum, rows(std::span<const float>(values), shape, std::array{1}), found, context),
        unsupported);
    CHECK_THROWS_AS(add_to(operation::sum, there, found, {.backend = "serial"}), unsupported);
    CHECK(found == std::vector<float>{7, 17});
  }
}

}  // namespace fanin::test
