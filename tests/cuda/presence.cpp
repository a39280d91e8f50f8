// SPDX-License-Identifier: Apache-2.0
// Elements in device memory that do not all take part, with masks on the device.
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

template <class T>
void expect_compacted(const backend& b, operation what, const masked_case<T>& of, std::size_t offset) {
  if (!has_value(what, of.present.size())) return;
  const std::vector<T> some = of.compacted();
  const device_array<T> x(std::span<const T>(of.x), offset);
  const std::vector<std::uint8_t> bits = bits_of_mask(of.mask, 5);
  const device_array<std::uint8_t> bytes_there(std::span<const std::uint8_t>(of.mask), offset);
  const device_array<std::uint8_t> bits_there{std::span<const std::uint8_t>(bits)};
  const mask_view masks[] = {{bytes_there.data(), 0, mask_form::bytes}, {bits_there.data(), 5, mask_form::bits}};
  for_each_variant(b, what, x.elements(), 1, [&](options chosen) {
    const scalar alone =
        call(find_backend("serial"), what, std::span<const T>(some), {.method = chosen.method}).value;
    const scalar expected = with_position(alone, of.present);
    chosen.nan = nan_policy::skip;
    for (const mask_view& mask : masks) {
      INFO(b.name() << ": " << told(what, x.elements(), chosen));
      const backend* const only[] = {&b};
      const input_views inputs = inputs_for(what, x.elements()).where(mask);
      const reduction answer = reduced(b, select(only, b.name(), what, inputs, chosen).what);
      CHECK(same(answer.value, expected));
      CHECK(answer.absent == of.x.size() - of.present.size());
    }
  });
  CHECK(x.untouched());
}

template <class T>
void expect_all_operations(const char* name, std::size_t longest) {
  generator random(7);
  for (const operation what : all_operations) {
    if (!adds_whole_numbers(what)) continue;
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{16389}, longest}) {
      const auto x = whole_numbers<T>(what, n, random);
      expect_compacted(find_backend(name), what, masked(x, random() % n, 3, random), n % 3);
      if (n < longest) expect_compacted(find_backend(name), what, masked(x, n, 3, random), 0);
    }
  }
}

TEST_SUITE("presence") {
  TEST_CASE("masks and NaN in device memory") {
    if (!device_is_here()) return;
    // Over one copy of 32 MiB with stand-ins.
    expect_all_operations<float>("cuda", 9000001);
    for_each_type<double, bf16, std::uint8_t, std::int64_t>(
        []<class T>(T) { expect_all_operations<T>("cuda", 300001); });
    for (const char* name : {"cub", "thrust"}) expect_all_operations<float>(name, 300001);
  }
  TEST_CASE("min of elements that are all absent, and what is refused") {
    if (!device_is_here()) return;
    const std::vector<float> nans(1000, std::numeric_limits<float>::quiet_NaN());
    const device_array<float> x{std::span<const float>(nans)};
    device_context context;
    const options skipping{.nan = nan_policy::skip};
    CHECK_THROWS_AS(reduce(operation::min, x.elements(), context, skipping), invalid_argument);
    CHECK(fanin::get<float>(reduce(operation::sum, x.elements(), context, skipping).value) == 0);
    CHECK(reduce(operation::sum, x.elements(), context, skipping).report.absent == 1000);
    const std::vector<std::uint8_t> mask(1000, 1);
    const input_views masked = input_views(array_view(x.elements())).where({mask.data()});
    const device_value<device_result<float>> result;
    CHECK_THROWS_AS(reduce(operation::sum, masked, context), invalid_argument);
    CHECK_THROWS_AS(enqueue(operation::sum, masked, result.get(), context), invalid_argument);
    const std::vector<e4m3> without_infinity(1000, e4m3(1.0f));
    const device_array<e4m3> y{std::span<const e4m3>(without_infinity)};
    CHECK_THROWS_AS(reduce(operation::log_sum_exp, y.elements(), context, skipping), unsupported);
    CHECK_THROWS_AS(enqueue<operation::log_sum_exp>(y.elements(), result.get(), context, skipping), unsupported);
  }
}

}  // namespace
}  // namespace fanin::test
