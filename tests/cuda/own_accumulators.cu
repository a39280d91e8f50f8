// SPDX-License-Identifier: Apache-2.0
// Accumulators of the caller's own over device memory, against the CPU backends.
#include <doctest/doctest.h>

#include <fanin/fold.cuh>

#include "tests/cuda/device_memory.hpp"
#include "tests/support/inputs.hpp"
#include "tests/support/own_accumulators.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t lengths[] = {0, 1, 31, 33, 4097, 8193, 100003, 1081345, 2000003};

/// Folds the inputs, which are as long as each other and lie on the device at these offsets.
template <class A, class... Input>
void expect_on_device(const fold_result<A>& expected, device_context& context, std::size_t count,
                      const Input&... there) {
  using R = fold_result<A>;
  const auto on_device = fold<A>(there.data()..., count, context);
  CHECK(std::memcmp(&on_device.value, &expected, sizeof(R)) == 0);
  CHECK(on_device.report.reproducibility == (A::order_free ? reproducibility::exact : reproducibility::run_to_run));
  const device_value<R> enqueued;
  enqueue_fold<A>(there.data()..., count, enqueued.get(), context);
  device_code::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
  const R value = enqueued.read();
  CHECK(std::memcmp(&value, &expected, sizeof(R)) == 0);
}

template <class A>
void expect_same_as_host(const std::vector<typename A::element>& x, device_context& context) {
  using T = typename A::element;
  const auto expected = fold<A>(x, {.backend = "serial"});
  for (const std::size_t offset : {0, 1, 3}) {
    expect_on_device<A>(expected.value, context, x.size(), device_array<T>(std::span<const T>(x), offset));
  }
}

template <class A>
void expect_same_as_host(const std::vector<float>& x, const std::vector<float>& y, device_context& context) {
  const auto expected = fold<A>(x, y, {.backend = "serial"});
  for (const auto& [first, second] : {std::pair{0, 0}, {1, 1}, {0, 1}, {3, 2}}) {
    expect_on_device<A>(expected.value, context, x.size(), device_array<float>(std::span<const float>(x), first),
                        device_array<float>(std::span<const float>(y), second));
  }
}

}  // namespace

TEST_SUITE("own_accumulators") {
  TEST_CASE("elements and states of any size") {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : lengths) {
      const auto values = mixed_values<float>(2 * count, 3);
      std::vector<point> points(count);
      for (std::size_t i = 0; i < count; ++i) points[i] = {values[2 * i], values[2 * i + 1], 1};
      expect_same_as_host<bounding_box>(points, context);
    }
  }

  TEST_CASE("positions") {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : lengths) {
      auto x = mixed_values<float>(count, 23);
      for (const std::size_t place : {std::size_t{0}, count / 3, count - 1}) {
        if (place < count) x[place] = 1e30f;
        expect_same_as_host<place_of_largest>(x, context);
        if (place < count) x[place] = 0;
      }
    }
  }

  TEST_CASE("two inputs, with positions too") {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : lengths) {
      std::vector<float> x(count), y(count);
      for (std::size_t i = 0; i < count; ++i) {  // products and sums that are exact: any order has the same sum
        x[i] = static_cast<float>(i % 1009) - 500;
        y[i] = static_cast<float>(i % 977) - 480;
      }
      expect_same_as_host<plain_dot>(x, y, context);
      expect_same_as_host<place_of_largest_product>(x, y, context);
    }
    CHECK_THROWS_AS(static_cast<void>(fold<plain_dot>(nullptr, nullptr, 1, context)), invalid_argument);
  }

  TEST_CASE("states that no registers hold") {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : lengths) expect_same_as_host<histogram>(mixed_values<float>(count, 31), context);
  }

  TEST_CASE("an order that matters is the shipped kernel's") {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : lengths) {
      if (count == 0) continue;
      const auto x = mixed_values<float>(count, 29);
      const device_array<float> there{std::span<const float>(x)};
      const auto own = fold<ordered_sum>(there.data(), count, context);
      const float shipped =
          fanin::get<float>(reduce(operation::sum, there.elements(), context, {.method = method::fast}).value);
      CHECK(std::memcmp(&own.value, &shipped, sizeof shipped) == 0);
      CHECK(own.report.reproducibility == reproducibility::run_to_run);
    }
    CHECK_THROWS_AS(static_cast<void>(fold<ordered_sum>(nullptr, 1, context)), invalid_argument);
  }
}

}  // namespace fanin::test
