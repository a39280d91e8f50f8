// SPDX-License-Identifier: Apache-2.0
// Batches whose results stay on the device, also in graphs, and requests that are refused.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "tests/conformance/checks.hpp"
#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_results.hpp"

namespace fanin::test {

TEST_SUITE("batches_enqueued") {
  TEST_CASE("results in device memory are those in host memory, by every operation, type and method") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<std::int32_t> ends{0, 3, 3, 5003, 5010, 30000};
    const device_array<std::int32_t> offsets{std::span<const std::int32_t>(ends)};
    std::vector<std::int32_t> of_elements(30000);
    for (std::size_t i = 0; i < of_elements.size(); ++i) of_elements[i] = static_cast<std::int32_t>(i * i % 7);
    const device_array<std::int32_t> keys{std::span<const std::int32_t>(of_elements)};
    for_each_element([&]<class T>(T) {
      const auto values = unit_factors<T>(30000, 17);
      const device_array<T> x{std::span<const T>(values), 1};
      for (const operation what : all_operations) {
        for (const method how : all_methods) {
          if (!has(find_backend("cuda"), what, type_of<T>, how)) continue;
          const options chosen{.method = how};
          const input_views inputs = inputs_for(what, x.elements());
          const std::size_t shape[] = {100, 300};
          INFO(told(what, x.elements(), chosen));
          const auto check = [&](const batch& many) {
            with_result_type(what, default_result(what, type_of<T>), [&]<class R>() {
              std::vector<R> waited(many.result_count);
              const device_results_memory<R> there(many.result_count), enqueued(many.result_count);
              const batch filled = many.if_empty(scalar(R{}));
              CHECK(reduce(what, filled, waited, context, chosen).backend == "cuda");
              reduce(what, filled, there, context, chosen);
              enqueue(what, filled, enqueued, context, chosen);
              wait_for(context);
              CHECK(all_same(there.read(), waited));
              CHECK(all_same(enqueued.read(), waited));
            });
          };
          for (const int axis : {0, 1}) check(rows(inputs, shape, std::span(&axis, 1)));
          check(device_segments(inputs, offsets, ends.size() - 1));
          check(device_groups(inputs, keys, 7));
        }
      }
      CHECK(x.untouched());
    });
  }

  TEST_CASE_TEMPLATE("several operations have the bits of calls of their own", T, float, double, bf16, f16, e4m3,
                     std::int16_t) {
    if (!device_is_here()) return;
    device_context context;
    const std::size_t count = 60000, shape[] = {200, 300};
    const std::vector<std::int32_t> ends{0, 3, 3, 10, 30000, 30001, 60000};
    const device_array<std::int32_t> offsets{std::span<const std::int32_t>(ends)};
    std::vector<T> values = unit_factors<T>(count, 5);
    std::fill_n(values.begin(), 3000, T(-0.0f));  // whole rows, and whole segments
    std::fill_n(values.begin() + 3300, 10, T(0.0f));
    if constexpr (!std::is_integral_v<T>) {
      values[6000] = std::numeric_limits<T>::quiet_NaN();
      for (std::size_t i = 9000; i < 9300; ++i) values[i] = i % 2 == 0 ? std::numeric_limits<T>::max() : T(1.0f);
    }
    const std::vector<T> zeros(count, T(-0.0f));
    const device_array<T> x{std::span<const T>(values), 1}, negative_zeros{std::span<const T>(zeros), 1};
    const device_array<T> aligned{std::span<const T>(values), 0}, aligned_zeros{std::span<const T>(zeros), 0};
    constexpr operation what[] = {operation::mean,     operation::sample_standard_deviation,
                                  operation::max,      operation::sum,
                                  operation::variance, operation::sample_variance};
    const auto check = [&](const batch& many, const options& chosen) {
      std::vector<std::unique_ptr<device_results_memory<std::uint64_t>>> alone, together;  // a word has any result
      std::vector<results_view> out;
      for (const operation one : what) {
        const auto take = [&](auto& from) {
          from.push_back(std::make_unique<device_results_memory<std::uint64_t>>(many.result_count));
          return results_view(results_view(*from.back()).data, many.result_count, default_result(one, type_of<T>),
                              result_form::number, memory::device);
        };
        enqueue(one, many, take(alone), context, chosen);
        out.push_back(take(together));
      }
      enqueue_each(what, many, out, context, chosen);
      wait_for(context);
      for (std::size_t i = 0; i < std::size(what); ++i) {
        CAPTURE(i);
        CHECK(alone[i]->read() == together[i]->read());
      }
    };
    for (const method how : all_methods) {
      CAPTURE(static_cast<int>(how));
      const options chosen{.method = how};
      for (const device_array<T>* const one : {&x, &negative_zeros, &aligned, &aligned_zeros}) {
        for (const int axis : {0, 1}) check(rows(one->elements(), shape, std::span(&axis, 1)), chosen);
        check(device_segments(one->elements(), offsets, ends.size() - 1), chosen);
        CHECK(one->untouched());
      }
    }
  }

  TEST_CASE("a graph is replayed with other elements and other offsets") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get()), waiting;
    const std::size_t count = 1 << 20, segment_count = 1000, shape[] = {1 << 10, 1 << 10};
    const int along[] = {0};
    generator random(12);
    auto values = mixed_values<float>(count, 5);
    std::vector<std::int32_t> ends(segment_count + 1);
    const device_array<float> x{std::span<const float>(values)};
    const device_array<std::int32_t> offsets{std::span<const std::int32_t>(ends)};
    const batch columns = rows(x.elements(), shape, along);
    const batch pieces = device_segments(x.elements(), offsets, segment_count);
    const device_results_memory<float> sums(shape[1]), exact(segment_count), fast(segment_count);
    const captured_graph graph(stream.get(), [&] {
      enqueue(operation::sum, columns, sums, context, {.method = method::fast});
      enqueue(operation::sum, pieces, exact, context, {.method = method::exact});
      enqueue(operation::sum, pieces, fast, context, {.method = method::fast});
    });
    for (const std::uint64_t seed : {1, 2, 3}) {
      values = mixed_values<float>(count, seed);
      for (auto& end : ends) end = static_cast<std::int32_t>(random() % (seed == 2 ? 4 : count + 1));
      std::ranges::sort(ends);
      if (seed == 3) ends.back() = count, ends[segment_count - 1] = 5, std::ranges::sort(ends);
      cuda::check(cudaMemcpy(x.data(), values.data(), count * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
      cuda::check(cudaMemcpy(offsets.data(), ends.data(), ends.size() * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
      graph.replay();
      const auto expected = [&](const batch& many, method how) {
        std::vector<float> waited(many.result_count);
        reduce(operation::sum, many, waited, waiting, {.method = how});
        return waited;
      };
      CHECK(all_same(sums.read(), expected(columns, method::fast)));
      CHECK(all_same(exact.read(), expected(pieces, method::exact)));
      CHECK(all_same(fast.read(), expected(pieces, method::fast)));
    }
  }

  TEST_CASE("what reduce() throws for, enqueue() leaves in the results") {
    if (!device_is_here()) return;
    device_context context;
    constexpr std::int64_t half = std::int64_t{1} << 62;
    const std::vector<std::int64_t> values{1, 2, half, half, 5};
    const device_array<std::int64_t> x{std::span<const std::int64_t>(values)};
    const auto with_offsets = [&](std::vector<std::int32_t> ends, const auto& use) {
      const device_array<std::int32_t> offsets{std::span<const std::int32_t>(ends)};
      use(device_segments(x.elements(), offsets, ends.size() - 1));
    };
    const device_results_memory<std::int64_t> sums(3);
    std::vector<std::int64_t> waited(3);
    with_offsets({0, 2, 4, 5}, [&](const batch& many) {
      CHECK_THROWS_WITH_AS(reduce(operation::sum, many, waited, context), doctest::Contains("segment 1"), overflow);
      enqueue(operation::sum, many, sums, context);
      wait_for(context);
      CHECK(sums.read() == std::vector<std::int64_t>{3, std::numeric_limits<std::int64_t>::min(), 5});
    });
    with_offsets({0, 3, 2, 5}, [&](const batch& many) {
      CHECK_THROWS_WITH_AS(reduce(operation::min, many, waited, context), doctest::Contains("offset 1"),
                           invalid_argument);
      CHECK_THROWS_AS(reduce(operation::min, many, sums, context), invalid_argument);
      enqueue(operation::min, many, sums, context);
      wait_for(context);
      CHECK(sums.read() == std::vector<std::int64_t>{1, std::numeric_limits<std::int64_t>::max(), 5});
    });
    with_offsets({0, 2, 2, 6}, [&](const batch& many) {
      CHECK_THROWS_WITH_AS(reduce(operation::max, many, waited, context), doctest::Contains("offset 2"),
                           invalid_argument);
    });
    with_offsets({0, 2, 2, 5}, [&](const batch& many) {
      CHECK_THROWS_WITH_AS(reduce(operation::max, many, waited, context), doctest::Contains("segment 1"),
                           invalid_argument);
      reduce(operation::max, many.if_empty(std::int64_t{-7}), waited, context);
      CHECK(waited == std::vector<std::int64_t>{2, -7, half});
    });
  }

  TEST_CASE("a plan, a list of backends, and what is refused") {
    if (!device_is_here()) return;
    device_context context;
    const auto values = mixed_values<float>(6, 3);
    const device_array<float> x{std::span<const float>(values)};
    const std::size_t shape[] = {2, 3};
    const int along[] = {1};
    const batch there = rows(x.elements(), shape, along), here = rows(std::span<const float>(values), shape, along);
    std::vector<float> expected(2), found(2);
    reduce(operation::sum, there, expected, context);
    CHECK(reduce(operation::sum, there, found).backend == "cuda");
    CHECK(found == expected);
    const plan planned(operation::sum, element_type::f32, {}, plan::unknown_count, memory::device, layout::rows);
    CHECK(planned(there, found).backend == "cuda");
    CHECK(found == expected);
    CHECK(reduce(operation::sum, here, found).backend == "serial");

    const std::int32_t halves[] = {0, 3, 6}, half_of[] = {0, 0, 0, 1, 1, 1};
    const device_array<std::int32_t> offsets{std::span<const std::int32_t>(halves)};
    const device_array<std::int32_t> keys{std::span<const std::int32_t>(half_of)};
    for (const batch& same_sums : {rows(x.elements(), {2, 3}, 1), segments(x.elements(), offsets.elements()),
                                   groups(x.elements(), keys.elements(), 2)}) {
      reduce(operation::sum, same_sums, found, context, {.method = method::exact});
      CHECK(found[0] == sum(std::span(values).first(3), {.method = method::exact}).value);
      CHECK(found[1] == sum(std::span(values).last(3), {.method = method::exact}).value);
    }

    const device_results_memory<float> results(2);
    CHECK_THROWS_AS(reduce(operation::sum, here, results), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::sum, here, found, context), unsupported);
    CHECK_THROWS_AS(enqueue(operation::sum, there, found, context), invalid_argument);
    CHECK_THROWS_AS(reduce(operation::variance, there, found, {.backend = "cub"}), unsupported);
    CHECK_THROWS_AS(reduce(operation::sum, there, found, {.backend = "serial"}), unsupported);
    const batch lying = rows(device_span<float>(values.data(), values.size()), shape, along);
    CHECK_THROWS_AS(reduce(operation::sum, lying, found, context), invalid_argument);
    CHECK_THROWS_AS(enqueue(operation::sum, there, device_results<float>(found.data(), 2), context),
                    invalid_argument);
    const std::int32_t ends[] = {0, 3, 6};
    const array_view offsets_here(ends, 3, element_type::i32, memory::device);
    CHECK_THROWS_AS(reduce(operation::sum, segments(x.elements(), offsets_here), found, context), invalid_argument);
    const std::int32_t keys_here[6] = {};
    const array_view wrong_keys(keys_here, 6, element_type::i32, memory::device);
    CHECK_THROWS_AS(reduce(operation::sum, groups(x.elements(), wrong_keys, 2), found, context), invalid_argument);
    reduce(operation::sum, there, found, context);
    CHECK(found == expected);  // the device still works
  }
}

}  // namespace fanin::test
