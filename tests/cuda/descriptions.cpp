// SPDX-License-Identifier: Apache-2.0
// Descriptions of device memory have the bits of descriptions of the same numbers in host memory.
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

template <class T>
void check_same(const description<T>& got, const description<T>& expected) {
  CHECK(got.count == expected.count);
  CHECK(got.nan == expected.nan);
  CHECK(same(scalar(got.min), scalar(expected.min)));
  CHECK(same(scalar(got.max), scalar(expected.max)));
  CHECK(same(scalar(got.sum), scalar(expected.sum)));
  CHECK(same(scalar(got.mean), scalar(expected.mean)));
  CHECK(same(scalar(got.standard_deviation), scalar(expected.standard_deviation)));
}

template <class F>
void for_each_real_type(F f) {
  for_each_element([&]<class T>(T) {
    if constexpr (!complex_number<T>) f.template operator()<T>();
  });
}

}  // namespace

TEST_SUITE("descriptions") {
  TEST_CASE("every type, on a context and without one, below and above 4 MiB") {
    if (!device_is_here()) return;
    device_context context;
    for_each_real_type([&]<class T>() {
      for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, (std::size_t{5} << 20) / sizeof(T) + 3}) {
        CAPTURE(to_string(type_of<T>));
        CAPTURE(count);
        const auto x = mixed_values<T>(count, 71);
        const auto expected = describe(x).value;
        const device_array<T> there{std::span<const T>(x), 1};
        const auto found = describe(there.elements(), context);
        check_same(found.value, expected);
        CHECK(found.report.backend == "cuda");
        CHECK(found.report.method == method::exact);
        CHECK(found.report.absent == 0);
        description<T> of_default_context{};
        CHECK(detail::describe(there.elements(), of_default_context, {}).backend == "cuda");
        check_same(of_default_context, expected);
        CHECK(there.untouched());
      }
    });
  }

  TEST_CASE("masks and NaN") {
    if (!device_is_here()) return;
    device_context context;
    generator random(73);
    for_each_real_type([&]<class T>() {
      for (const std::size_t count : {std::size_t{65}, std::size_t{20000}, (std::size_t{5} << 20) / sizeof(T)}) {
        const auto of = masked(mixed_values<T>(count, 72), 40, 3, random);
        const auto bits = bits_of_mask(of.mask, 3);
        const device_array<T> there{std::span<const T>(of.x)};
        const device_array<std::uint8_t> bytes_there{std::span<const std::uint8_t>(of.mask)};
        const device_array<std::uint8_t> bits_there{std::span<const std::uint8_t>(bits)};
        for (const nan_policy nan : all_nan_policies) {
          CAPTURE(to_string(type_of<T>));
          CAPTURE(count);
          const options chosen{.nan = nan};
          const auto expected = describe(where(of.x, of.mask), chosen);
          for (const mask_view& mask : {mask_view{bytes_there.data(), 0, mask_form::bytes},
                                        mask_view{bits_there.data(), 3, mask_form::bits}}) {
            const auto found = describe(there.elements(), context, chosen, mask);
            check_same(found.value, expected.value);
            CHECK(found.report.absent == expected.report.absent);
            description<T> of_default_context{};
            static_cast<void>(
                detail::describe(input_views(there.elements()).where(mask), of_default_context, chosen));
            check_same(of_default_context, expected.value);
          }
          const auto whole = describe(there.elements(), context, chosen);
          check_same(whole.value, describe(of.x, chosen).value);
        }
      }
    });
  }

  TEST_CASE("what is described runs after the work on the stream") {
    if (!device_is_here()) return;
    const cuda::owned_stream stream = cuda::make_stream(cudaStreamNonBlocking);
    device_context context(0, stream.get());
    constexpr std::size_t count = std::size_t{1} << 24;
    const auto memory = cuda::allocate_device(count);
    const device_span<std::uint8_t> x(reinterpret_cast<const std::uint8_t*>(memory.get()), count);
    for (int i = 0; i < 20; ++i) {
      cuda::check(cudaMemsetAsync(memory.get(), i, count, stream.get()), "cudaMemsetAsync");
      const auto found = describe(x, context).value;
      CHECK((found.min == i && found.max == i));
      CHECK(found.sum == count * static_cast<std::size_t>(i));
    }
  }

  TEST_CASE("refusals leave the context usable") {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<std::int64_t> most{INT64_MAX, 1};
    const device_array<std::int64_t> there{std::span<const std::int64_t>(most)};
    const std::vector<std::uint8_t> none{0, 0};
    const device_array<std::uint8_t> nobody{std::span<const std::uint8_t>(none)};
    const auto all = describe(there.elements(), context).value;
    CHECK((all.sum_overflows && all.count == 2 && all.min == 1 && all.max == INT64_MAX && all.mean == 0x1p62));
    CHECK_THROWS_AS(describe(device_span<std::int64_t>(), context), invalid_argument);
    CHECK_THROWS_AS(describe(there.elements(), context, {}, {nobody.data()}), invalid_argument);
    CHECK_THROWS_AS(describe(device_span<std::int64_t>(nullptr, 1), context), invalid_argument);
    CHECK_THROWS_AS(describe(device_span<std::int64_t>(most.data(), 2), context), invalid_argument);
    CHECK_THROWS_AS(describe(there.elements(), context, {.method = method::fast}), invalid_argument);
    CHECK_THROWS_AS(describe(there.elements(), context, {.backend = "tbb"}), invalid_argument);
    CHECK(describe(device_span<std::int64_t>(there.data(), 1), context).value.max == INT64_MAX);
  }
}

}  // namespace fanin::test
