// SPDX-License-Identifier: Apache-2.0
// Dot products of data in device memory, wherever the second array begins.
#include <doctest/doctest.h>

#include <complex>
#include <limits>

#include "oracle/complex_truth.hpp"
#include "oracle/truth.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
void expect_dot_products(std::size_t count, device_context& context) {
  const auto both = mixed_values<T>(2 * count, static_cast<unsigned>(count));
  const oracle::truth exact(operation::dot, std::span<const T>(both), 1);
  const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
  for (const auto& [first, second] : {std::pair{0, 0}, {3, 3}, {0, 1}, {2, 1}}) {
    const device_array<T> x_there(x, first), y_there(y, second);
    const input_views inputs(x_there.elements(), y_there.elements());
    for (const method how : all_methods) {
      CAPTURE(to_string(how));
      CAPTURE(count);
      CAPTURE(second - first);
      const auto found = reduce(operation::dot, inputs, context, {.method = how});
      CHECK(exact.judge(found.value, found.report) == oracle::promise::kept);
      if (how == method::exact) CHECK(same(found.value, exact.rounded()));
      const device_value<device_result<computed_as<T>>> result;
      enqueue(operation::dot, inputs, result.get(), context, {.method = how});
      cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
      CHECK(same(scalar(result.read().value), found.value));
    }
    CHECK(x_there.untouched());
    CHECK(y_there.untouched());
  }
}

}  // namespace

TEST_SUITE("pairs") {
  TEST_CASE_TEMPLATE("dot products by every method keep their promise", T, float, double, f16, bf16) {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : {1, 5, 33, 4097, 8193, 100003, 2000003}) expect_dot_products<T>(count, context);
  }

  TEST_CASE_TEMPLATE("dot products of complex arrays off a boundary", T, std::complex<float>, std::complex<double>) {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : {1, 33, 4097, 100003}) {
      const auto both = mixed_values<T>(2 * count, static_cast<unsigned>(count));
      const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
      for (const auto& [first, second] : {std::pair{0, 1}, {1, 0}, {1, 1}}) {
        const device_array<T> x_there(x, first), y_there(y, second);
        const input_views inputs(x_there.elements(), y_there.elements());
        for (const operation what : {operation::dot, operation::vdot}) {
          INFO(count << " elements, " << row_of(what).name << ", " << second - first);
          const oracle::complex_truth exact(what, std::span<const T>(both));
          const auto found = reduce(what, inputs, context, {.method = method::exact});
          CHECK(exact.judge(found.value, found.report) != oracle::promise::broken);
          CHECK(same(enqueued(what, inputs, {.method = method::exact}, context), found.value));
        }
        CHECK(x_there.untouched());
        CHECK(y_there.untouched());
      }
    }
  }

  TEST_CASE_TEMPLATE("dot products of cub and thrust keep their promise", T, float, double) {
    if (!device_is_here()) return;
    constexpr std::size_t count = 300007;
    const auto both = mixed_values<T>(2 * count, 7);
    const oracle::truth exact(operation::dot, std::span<const T>(both), 1);
    const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
    const device_array<T> x_there(x, 1), y_there(y, 2);
    for (const char* name : {"cub", "thrust"}) {
      const options chosen{.backend = name, .method = method::fast};
      const auto on_device = reduce(operation::dot, {x_there.elements(), y_there.elements()}, chosen);
      CHECK(exact.judge(on_device.value, on_device.report) == oracle::promise::kept);
      const auto on_host = dot(x, y, chosen);
      CHECK(exact.judge(scalar(on_host.value), on_host.report) == oracle::promise::kept);
    }
    CHECK(x_there.untouched());
    CHECK(y_there.untouched());
  }

  TEST_CASE_TEMPLATE("dot products of zeros, infinities and NaNs", T, float, double, f16, bf16) {
    if (!device_is_here()) return;
    using N = computed_as<T>;
    constexpr N inf = std::numeric_limits<N>::infinity(), nan = std::numeric_limits<N>::quiet_NaN();
    constexpr std::size_t count = 101;
    struct example {
      N fill, x, y;  // y has ones but for its last element
    };
    device_context context;
    for (const auto& [fill, last_x, last_y] : {example{N(-0.), N(-0.), 1},
                                               {0, N(-0.), 1},
                                               {1, -100, 1},
                                               {1, inf, -2},
                                               {1, inf, 0},
                                               {inf, -inf, 1},
                                               {1, 1, nan},
                                               {1, -inf, -inf}}) {
      std::vector<T> x(count, static_cast<T>(fill)), y(count, static_cast<T>(N{1}));
      x.back() = static_cast<T>(last_x);
      y.back() = static_cast<T>(last_y);
      const device_array<T> x_there(std::span<const T>(x), 0), y_there(std::span<const T>(y), 0);
      const device_value<device_result<N>> result;
      enqueue(operation::dot, {x_there.elements(), y_there.elements()}, result.get(), context, {});
      cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
      CAPTURE(last_x);
      CAPTURE(last_y);
      CHECK(same(scalar(result.read().value),
                 scalar(dot(std::span<const T>(x), std::span<const T>(y), {.backend = "serial"}).value)));
    }
  }

  TEST_CASE_TEMPLATE("host data in chunks", T, float, double, f16, bf16) {
    if (!device_is_here()) return;
    constexpr std::size_t count = (std::size_t{5} << 20) + 77;  // three chunks or more
    const auto both = mixed_values<T>(2 * count, 3);
    const oracle::truth exact(operation::dot, std::span<const T>(both), 1);
    const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
    for (const method how : all_methods) {
      const auto found = dot(x, y, {.backend = "cuda", .method = how});
      CHECK(exact.judge(scalar(found.value), found.report) == oracle::promise::kept);
    }
  }
}

}  // namespace fanin::test
