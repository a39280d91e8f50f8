// SPDX-License-Identifier: Apache-2.0
// Data in device memory: every size at which the kernels change, every place of the first element, guards around.
#include <algorithm>

#include "backends/cuda/gpu_backend.hpp"
#include "oracle/truth.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {
namespace {

/// Around a vector, a warp, a block, what one block reads alone, a grid that is full once and twice.
constexpr std::size_t lengths[] = {1,      2,      3,      4,       5,       7,      31,    32,    33,
                                   101,    127,    128,    129,     511,     512,    513,   2047,  2048,
                                   2049,   8191,   8192,   8193,    16383,   16384,  16385, 16389, 65537,
                                   135167, 135169, 540673, 1081343, 1081345, 4325381};

template <floating T>
void expect_right_log_sum(const backend& b, std::span<const T> x, const device_array<T>& on_device) {
  const oracle::truth exact(operation::log_sum_exp, x, 1);
  for_each_variant(b, operation::log_sum_exp, on_device.elements(), 1, [&](const options& chosen) {
    INFO(b.name() << ": " << told(operation::log_sum_exp, on_device.elements(), chosen));
    const reduction answer = call(b, operation::log_sum_exp, on_device.elements(), chosen);
    CHECK(exact.judge(answer.value, {b.name(), answer}) == oracle::promise::kept);
  });
}

template <floating T>
void expect_right(const backend& b, operation what, std::span<const T> x, const device_array<T>& on_device) {
  if (what == operation::log_sum_exp) return expect_right_log_sum(b, x, on_device);
  using N = computed_as<T>;
  // The product's factors have exact products.
  const bool compares = only_compares(what), multiplies = what == operation::product;
  const scalar known = compares     ? comparison<T>(x).result(what)
                       : multiplies ? call(find_backend("serial"), what, x).value
                                    : scalar(0.0f);
  const exact_reference<T> exact(compares || multiplies ? x.first(0) : x);
  for_each_variant(b, what, on_device.elements(), 1, [&](const options& chosen) {
    INFO(b.name() << ": " << told(what, on_device.elements(), chosen));
    const reduction answer = call(b, what, on_device.elements(), chosen);
    if (compares || multiplies) {
      CHECK(same(answer.value, known));
    } else if (is_of_exact_sums(what) && chosen.method == method::exact) {
      CHECK(exact.is_rounded(what, fanin::get<N>(answer.value)));
    } else {
      CHECK(exact.keeps(what, fanin::get<N>(answer.value), answer.bound));
      if (chosen.method == method::exact) CHECK(same(answer.value, scalar(exact.template rounded<N>(what))));
    }
  });
}

template <std::integral T>
void expect_right(const backend& b, operation what, std::span<const T> x, const device_array<T>& on_device) {
  if (!has(b, what, type_of<T>, method::fast)) return;
  const scalar expected = *integer_reference(x).result(what);
  for_each_variant(b, what, on_device.elements(), 1, [&](const options& chosen) {
    INFO(b.name() << ": " << told(what, on_device.elements(), chosen));
    CHECK(same(call(b, what, on_device.elements(), chosen).value, expected));
  });
}

template <class T>
void expect_right_everywhere(const char* name) {
  const backend& b = find_backend(name);
  const auto values = mixed_values<T>(std::ranges::max(lengths), 51);
  const auto factors = unit_factors<T>(std::ranges::max(lengths) / 8, 52);
  for (const std::size_t length : lengths) {
    for (std::size_t offset = 0; offset < (length < 70000 ? 16 / sizeof(T) : 2); ++offset) {
      const auto x = std::span<const T>(values).first(length);
      const device_array<T> on_device(x, offset);
      for (const operation what : all_operations) {
        if (what != operation::product && has_value(what, length)) expect_right(b, what, x, on_device);
      }
      CHECK(on_device.untouched());
      if (length > factors.size()) continue;
      const auto y = std::span<const T>(factors).first(length);
      expect_right(b, operation::product, y, device_array<T>(y, offset));
    }
  }
}

/// A length over which every grid is full many times, with a rest in every part of the split.
template <class T>
void expect_long_right() {
  const std::size_t count = (std::size_t{1} << 28) / sizeof(T) + 1234567;
  constexpr std::int64_t least = std::numeric_limits<T>::is_signed ? -6 : 0;
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(static_cast<std::int64_t>(i * 2654435761u >> 7 & 15) + least);
  const backend& b = find_backend("cuda");
  for (const std::size_t offset : {0, 1}) {
    const device_array<T> on_device(std::span<const T>(x), offset);
    for (const operation what :
         {operation::sum, operation::minmax, operation::argmin, operation::count_nonzero, operation::all}) {
      expect_right<T>(b, what, x, on_device);
    }
    CHECK(on_device.untouched());
  }
}

TEST_SUITE("device_data") {
  TEST_CASE("sizes and places of cuda") {
    if (!device_is_here()) return;
    for_each_type<float, double, f16, bf16, std::int32_t, std::int64_t>(
        []<class T>(T) { expect_right_everywhere<T>("cuda"); });
  }
  TEST_CASE("sizes and places of cub and thrust") {
    if (!device_is_here()) return;
    for (const char* name : {"cub", "thrust"})
      expect_right_everywhere<float>(name), expect_right_everywhere<std::int64_t>(name);
    expect_right_everywhere<bf16>("cub");
  }
  TEST_CASE("log_sum_exp of integers is that of the same numbers as doubles") {
    if (!device_is_here()) return;
    const backend& b = find_backend("cuda");
    device_context context;
    for_each_type<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
        [&]<class T>(T) {
          for (const std::size_t length : lengths) {
            if (length > 100000) continue;
            std::vector<T> x(length);
            for (std::size_t i = 0; i < length; ++i) x[i] = static_cast<T>(i * 31 % (sizeof(T) == 1 ? 97 : 997));
            const std::vector<double> same(x.begin(), x.end());
            const oracle::truth exact(operation::log_sum_exp, std::span<const double>(same), 1);
            const device_array<T> on_device(std::span<const T>(x), 1);
            const reduction answer = call(b, operation::log_sum_exp, on_device.elements(), {});
            CHECK(exact.judge(answer.value, {b.name(), answer}) == oracle::promise::kept);
            if (length % 3 != 0) continue;
            for (const int axis : {0, 1}) {
              const batch many = rows(on_device.elements(), {length / 3, 3}, axis);
              std::vector<double> found(many.result_count), expected(many.result_count);
              reduce(operation::log_sum_exp, many, found, context);
              reduce(operation::log_sum_exp, rows(same, {length / 3, 3}, axis), expected);
              for (std::size_t i = 0; i < found.size(); ++i) {
                CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-13));
              }
            }
          }
        });
    const std::vector<std::int64_t> x{1, (std::int64_t{1} << 53) + 1};
    const device_array<std::int64_t> no_doubles{std::span<const std::int64_t>(x)};
    const scalar found = reduce(operation::log_sum_exp, no_doubles.elements(), context).value;
    CHECK(std::isnan(fanin::get<double>(found)));
    const device_array<std::int16_t> without_kernels{std::span<const std::int16_t>(std::vector<std::int16_t>(3))};
    CHECK_THROWS_AS(reduce(operation::log_sum_exp, without_kernels.elements(), context), unsupported);
  }
  TEST_CASE("states go to device memory and to pinned host memory") {
    if (!device_is_here()) return;
    const auto values = mixed_values<std::int64_t>(100000, 3);
    const device_array<std::int64_t> x{std::span<const std::int64_t>(values)};
    const auto expected = *integer_reference(std::span<const std::int64_t>(values)).result(operation::sum);
    for (const char* name : {"cuda", "cub", "thrust"}) {
      CAPTURE(name);
      const auto& b = static_cast<const cuda::gpu_backend&>(find_backend(name));
      cuda::context context(0);
      const request query{operation::sum, array_view(x.elements()), method::fast, element_type::i64, "", 1};
      for (std::byte* const state : {context.device_state(0), context.host_state(0)}) {
        b.find_kernel(query)->launch(context.where(), {x.data()}, values.size(), state);
        std::int64_t found = 0;  // the lower half of the sum
        cuda::check(cudaMemcpyAsync(&found, state, sizeof found, cudaMemcpyDefault, context.where().stream), "copy");
        cuda::check(cudaStreamSynchronize(context.where().stream), "cudaStreamSynchronize");
        CHECK(same(found, expected));
      }
    }
  }
  TEST_CASE("long arrays") {
    if (!device_is_here()) return;
    for_each_type<float, double, f16, std::int32_t, std::uint64_t>([]<class T>(T) { expect_long_right<T>(); });
  }
  TEST_CASE("exact sums of a special value and many zeros") {
    if (!device_is_here()) return;
    constexpr std::size_t count = std::size_t{1} << 26;  // many batches for every warp
    for_each_type<float, double>([]<class T>(T) {
      const auto memory = cuda::allocate_device(count * sizeof(T));
      auto* const x = reinterpret_cast<T*>(memory.get());
      cuda::check(cudaMemset(x, 0, count * sizeof(T)), "cudaMemset");
      for (const T special : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::max(), T{1}, -T{0}}) {
        for (const std::size_t place : {std::size_t{0}, count / 2}) {
          cuda::check(cudaMemcpy(x + place, &special, sizeof special, cudaMemcpyHostToDevice), "cudaMemcpy");
          const scalar found =
              reduce(operation::sum, device_span<T>(x, count), {.backend = "cuda", .method = method::exact}).value;
          CHECK(same(found, scalar(special + T{0})));
          cuda::check(cudaMemset(x + place, 0, sizeof special), "cudaMemset");
        }
      }
    });
  }
  TEST_CASE("over 2^32 elements finished on the host and on the device") {
    if (!device_is_here()) return;
    constexpr std::size_t count = (std::size_t{1} << 32) + 5;
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    cuda::check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    if (free_bytes < (count + (1 << 26)) * 4) {
      test::skip("the device has less than 17 GiB of free memory");
      return;
    }
    const auto memory = cuda::allocate_device(count * 4);
    cuda::check(cudaMemset(memory.get(), 0x81, count * 4), "cudaMemset");
    const device_span<std::int32_t> x(reinterpret_cast<const std::int32_t*>(memory.get()), count);
    const auto each = static_cast<std::int32_t>(0x81818181);
    const auto expected =
        static_cast<std::int64_t>(static_cast<detail::int128>(each) * static_cast<detail::int128>(count));
    const bool fits = expected == static_cast<detail::int128>(each) * static_cast<detail::int128>(count);
    device_context context;
    const device_value<device_result<std::int64_t>> result;
    enqueue<operation::sum>(x, result.get(), context);
    cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(context.stream())), "cudaStreamSynchronize");
    CHECK(result.read().value == expected);
    CHECK((result.read().overflowed == 0) == fits);
    for (const char* name : {"cuda", "cub", "thrust"}) {
      CHECK(fanin::get<std::int64_t>(reduce(operation::sum, x, {.backend = name}).value) == expected);
      CHECK(fanin::get<std::int32_t>(reduce(operation::max, x, {.backend = name}).value) == each);
    }
  }
}

}  // namespace
}  // namespace fanin::test
