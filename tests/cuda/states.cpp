// SPDX-License-Identifier: Apache-2.0
// Exact sums whose states are formed on a device. The states are the same as if elements are added one by one.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include <fanin/state.hpp>

#include "tests/cuda/captured_graph.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {

TEST_SUITE("states") {
  TEST_CASE_TEMPLATE("a device adds its memory and the host's to a state", A, exact_accumulator<float>,
                     exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
    if (!device_is_here()) return;
    using T = typename A::value_type;
    device_context context;
    for (const std::size_t count : {0, 1, 4097, 2000003}) {
      CAPTURE(count);
      const auto x = mixed_values<T>(count, static_cast<unsigned>(count));
      const std::span<const T> all(x);
      const device_array<T> there(all, 1);
      A expected, sum;
      expected.add(all);
      accumulate(sum, there.elements(), context);
      CHECK(sum.save() == expected.save());
      expected.add(all);
      accumulate(sum, array_view(all), context);
      CHECK(sum.save() == expected.save());
      expected.add(all);
      CHECK(accumulate(sum, there.elements()).backend == "cuda");
      CHECK(sum.save() == expected.save());
    }
  }

  TEST_CASE("floats of 16 bits are added to the state of f32, and NaN is left out") {
    if (!device_is_here()) return;
    const std::vector<f16> x{f16(1.5f), f16(std::numeric_limits<float>::quiet_NaN()), f16(-3.f)};
    const device_array<f16> there{std::span<const f16>(x)};
    device_context context;
    exact_accumulator<float> sum;
    CHECK(accumulate(sum, there.elements(), context, {.nan = nan_policy::skip}).absent == 1);
    CHECK(sum.count() == 2);
    CHECK(sum.round() == -1.5f);
  }

  TEST_CASE_TEMPLATE("a device writes lanes and reads their sum", A, exact_accumulator<float>,
                     exact_accumulator<double>, exact_square_accumulator<float>, exact_square_accumulator<double>) {
    if (!device_is_here()) return;
    using T = typename A::value_type;
    constexpr bool squares = std::is_same_v<A, exact_square_accumulator<T>>;
    constexpr operation what = squares ? operation::sum_of_squares : operation::sum;
    using lanes = std::array<std::int64_t, A::lane_count>;
    CHECK(lane_count(what, type_of<T>) == A::lane_count);
    device_context context;
    for (const std::size_t count : {0, 1, 4097, 2000003}) {
      CAPTURE(count);
      const auto x = mixed_values<T>(count, static_cast<unsigned>(count));
      const device_array<T> there(std::span<const T>(x), 1);
      A sum;
      sum.add(std::span<const T>(x));
      lanes expected;
      sum.to_lanes(expected);
      const device_value<lanes> found;
      const device_value<device_result<T>> value;
      const captured_graph graph(static_cast<cudaStream_t>(context.stream()), [&] {
        enqueue_lanes(what, there.elements(), found.get()->data(), context);
        enqueue_value_of_lanes(what, type_of<T>, found.get()->data(), value.get(), context);
      });
      graph.replay();
      CHECK(found.read() == expected);
      CHECK(bits_of(value.read().value) == bits_of(sum.round()));
    }
  }

  TEST_CASE("lanes of many parts, of elements of which some are absent") {
    if (!device_is_here()) return;
    constexpr std::size_t count =
        (std::size_t{65} << 25) / sizeof(f16);  // 65 copies, one more than a context's states
    std::vector<f16> x(count, f16(1.f));
    for (std::size_t i = 0; i < count; i += 3) x[i] = f16(std::numeric_limits<float>::quiet_NaN());
    const device_array<f16> there{std::span<const f16>(x)};
    device_context context;
    const device_value<std::array<std::int64_t, exact_accumulator<float>::lane_count>> found;
    enqueue_lanes(operation::sum, there.elements(), found.get()->data(), context, {.nan = nan_policy::skip});
    wait_for(context);
    const auto sum = exact_accumulator<float>::from_lanes(found.read());
    CHECK(sum.count() == count - (count + 2) / 3);
    CHECK(sum.round<double>() == static_cast<double>(sum.count()));
  }

  TEST_CASE_TEMPLATE("lanes of many arrays are those of one", T, float, double, f16, bf16) {
    if (!device_is_here()) return;
    const auto x = mixed_values<T>(300000, 71);
    const device_array<T> there{std::span<const T>(x)};
    const device_span<T> all = there.elements();
    device_context context;
    for (const operation what : {operation::sum, operation::norm2, operation::sum_of_magnitudes}) {
      for (const std::size_t length : {1000, 777, 200001}) {  // many arrays at any alignment, and two of some chunks
        std::vector<input_views> arrays = {device_span<T>()};
        for (std::size_t i = 0; i < all.size(); i += length) {
          arrays.push_back(device_span<T>(all.data() + i, std::min(length, all.size() - i)));
        }
        std::reverse(arrays.begin(), arrays.end());
        const device_value<std::array<std::int64_t, exact_square_accumulator<double>::lane_count>> one, many;
        enqueue_lanes(what, all, one.get()->data(), context);
        enqueue_lanes(what, arrays, many.get()->data(), context);
        wait_for(context);
        const std::size_t count = lane_count(what, type_of<T>);
        const auto expected = one.read(), found = many.read();
        CHECK(std::equal(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count), found.begin()));
      }
    }
  }

  TEST_CASE("lanes that cannot be") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<float> x{1};
    const device_array<float> there{std::span<const float>(x)};
    std::int64_t lanes[18];
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, there.elements(), lanes, context), invalid_argument);
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, there.elements(), nullptr, context), invalid_argument);
    const std::vector<input_views> none, two(2, there.elements()), mixed{there.elements(), device_span<double>()};
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, none, lanes, context), invalid_argument);
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, mixed, lanes, context), invalid_argument);
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, two, lanes, context, {.nan = nan_policy::skip}), unsupported);
    CHECK_THROWS_AS(enqueue_lanes(operation::max, there.elements(), lanes, context), unsupported);
    CHECK_THROWS_AS(enqueue_lanes(operation::sum, array_view(std::span(x)), lanes, context), invalid_argument);
  }
}

}  // namespace fanin::test
