// SPDX-License-Identifier: Apache-2.0
// Host data divided among devices, and device data on several of them. One device that is named several times folds
// as many parts, so that most of this runs on a machine with one.
#include <fanin/describe.hpp>
#include <fanin/lanes.hpp>
#include <fanin/sharded.hpp>
#include <fanin/state.hpp>

#include "tests/cli/process.hpp"
#include "tests/conformance/checks.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/masked.hpp"

namespace fanin::test {
namespace {

using device_list = std::vector<int>;
const device_list one_device[] = {{0}, {0, 0, 0}};
const device_list two_devices[] = {{0, 1}, {1, 0}, {1, 0, 1}};

/// Whether a test that needs so many devices is to go on.
bool devices_are_here(std::size_t count) {
  if (!device_is_here()) return false;
  if (find_backend("cuda").device_count() >= static_cast<int>(count)) return true;
  skip("there are fewer than " + std::to_string(count) + " devices");
  return false;
}

reduction call_on_devices(const backend& b, operation what, const input_views& inputs, const options& chosen) {
  const backend* const only[] = {&b};
  return reduced(b, select(only, b.name(), what, inputs, chosen).what);
}

/// Every operation has the value of the elements that take part, which are folded in any order without rounding.
template <class T>
void expect_divided(std::string_view name, std::span<const device_list> lists, std::size_t n, std::size_t lead) {
  generator random(n + lead);
  const backend& b = find_backend(name);
  for (const operation what : all_operations) {
    if (!adds_whole_numbers(what)) continue;
    const masked_case<T> of = masked(whole_numbers<T>(what, n, random), lead, 3, random);
    if (!has_value(what, of.present.size())) continue;
    const std::vector<T> some = of.compacted();
    const std::vector<std::uint8_t> bits = bits_of_mask(of.mask, 5);
    for_each_variant(b, what, std::span<const T>(some), 3, [&](options chosen) {
      const scalar alone =
          call(find_backend("serial"), what, std::span<const T>(some), {.method = chosen.method}).value;
      for (const device_list& devices : lists) {
        chosen.devices = devices;
        INFO(name << " on " << devices.size() << ": " << told(what, std::span<const T>(some), chosen));
        chosen.nan = nan_policy::propagate;
        CHECK(same(call_on_devices(b, what, inputs_for(what, std::span<const T>(some)), chosen).value, alone));
        chosen.nan = nan_policy::skip;
        const input_views inputs =
            inputs_for(what, std::span<const T>(of.x)).where({bits.data(), 5, mask_form::bits});
        const reduction answer = call_on_devices(b, what, inputs, chosen);
        CHECK(same(answer.value, with_position(alone, of.present)));
        CHECK(answer.absent == of.x.size() - of.present.size());
      }
    });
  }
}

void expect_divided(std::span<const device_list> lists) {
  for (const std::size_t n : {1, 2, 1000, 70001}) {
    for (const std::size_t lead : {std::size_t{0}, n / 2, n}) {  // A part or all may have no element that takes part.
      for_each_type<float, std::uint8_t>([&]<class T>(T) { expect_divided<T>("cuda", lists, n, lead); });
    }
  }
  for_each_type<double, bf16, std::int64_t, std::complex<float>>(
      [&]<class T>(T) { expect_divided<T>("cuda", lists, 16389, 9000); });
  for (const char* name : {"cub", "thrust"}) expect_divided<float>(name, lists, 16389, 9000);
}

/// Pinned memory that every device can read.
template <class T>
class pinned_copy {
 public:
  explicit pinned_copy(std::span<const T> x) : memory_(cuda::allocate_pinned(x.size_bytes())), count_(x.size()) {
    std::memcpy(memory_.get(), x.data(), x.size_bytes());
  }
  std::span<const T> elements() const { return {reinterpret_cast<const T*>(memory_.get()), count_}; }

 private:
  cuda::pinned_memory memory_;
  std::size_t count_;
};

/// Exact results of numbers far apart, of several chunks on each device, have the bits of the CPU.
template <class T>
void expect_cpu_bits(std::span<const device_list> lists) {
  const std::vector<T> x = mixed_values<T>((std::size_t{100} << 20) / sizeof(T) + 17, 5);
  const pinned_copy<T> pinned{std::span<const T>(x)};
  for (const operation what : {operation::sum, operation::dot, operation::variance, operation::argmax}) {
    const options known{.backend = "openmp,serial"};
    options chosen{.backend = "cuda"};
    const scalar right = reduce(what, inputs_for(what, std::span<const T>(x)), known).value;
    for (const device_list& devices : lists) {
      chosen.devices = devices;
      CAPTURE(to_string(what));
      CHECK(same(reduce(what, inputs_for(what, std::span<const T>(x)), chosen).value, right));
      CHECK(same(reduce(what, inputs_for(what, pinned.elements()), chosen).value, right));
    }
  }
  exact_accumulator<T> of_cpu, of_devices;
  accumulate(of_cpu, std::span<const T>(x), {.backend = "serial"});
  accumulate(of_devices, std::span<const T>(x), {.backend = "cuda", .devices = lists.back()});
  CHECK(of_cpu.save() == of_devices.save());
}

/// Checks that `fast` adds the values of the parts in the order of the devices. The value of a part is the same as
/// from one device.
void expect_order_of_fast(std::span<const device_list> lists) {
  const std::vector<double> x = mixed_values<double>(5000001, 6);
  for (const device_list& devices : lists) {
    double expected = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t length = x.size() / devices.size() + (i < x.size() % devices.size() ? 1 : 0);
      const auto part = std::span(x).subspan(first, length);
      const double value =
          sum(part, {.backend = "cuda", .method = method::fast, .devices = std::span(devices).first(1)}).value;
      expected = i == 0 ? value : expected + value;
      first += length;
    }
    CHECK(first == x.size());
    const auto found = sum(x, {.backend = "cuda", .method = method::fast, .devices = devices});
    CHECK(same(scalar(found.value), scalar(expected)));
    CHECK(found.report.reproducibility == reproducibility::run_to_run);
  }
}

/// An array that is divided among the devices.
template <class T>
class divided_array {
 public:
  divided_array(std::span<const T> x, std::span<const std::uint8_t> mask, const device_list& devices) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t length = i + 1 < devices.size() ? (x.size() - first) / 3 : x.size() - first;
      const cuda::device_scope here(devices[i]);
      elements_.emplace_back(x.subspan(first, length));
      masks_.emplace_back(mask.subspan(first, length));
      first += length;
    }
  }
  std::vector<input_views> parts(operation what, bool masked) const {
    std::vector<input_views> all;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const input_views part = inputs_for(what, elements_[i].elements());
      all.push_back(masked ? part.where({masks_[i].data()}) : part);
    }
    all.insert(all.begin() + 1, inputs_for(what, device_span<T>()));
    return all;
  }

 private:
  std::vector<device_array<T>> elements_;
  std::vector<device_array<std::uint8_t>> masks_;
};

template <class T>
void expect_sharded(std::span<const device_list> lists, std::size_t n, std::size_t lead) {
  generator random(n);
  for (const device_list& devices : lists) {
    for (const operation what : all_operations) {
      if (!adds_whole_numbers(what) || !has_value(what, n - lead)) continue;
      const masked_case<T> of = masked(whole_numbers<T>(what, n, random), lead, 3, random);
      if (!has(find_backend("cuda"), what, type_of<T>, method::fast) || !has_value(what, of.present.size())) continue;
      const divided_array<T> there(of.x, of.mask, devices);
      const scalar all = call(find_backend("serial"), what, std::span<const T>(of.x)).value;
      const scalar some = call(find_backend("serial"), what, std::span<const T>(of.compacted())).value;
      INFO(devices.size() << " parts: " << told(what, std::span<const T>(of.x)));
      CHECK(same(reduce(what, sharded(there.parts(what, false))).value, all));
      const auto found = reduce(what, sharded(there.parts(what, true)), {.nan = nan_policy::skip});
      CHECK(same(found.value, with_position(some, of.present)));
      CHECK(found.report.absent == n - of.present.size());
    }
  }
}

void expect_sharded(std::span<const device_list> lists) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{300001}}) {
    for_each_type<float, std::int32_t>([&]<class T>(T) { expect_sharded<T>(lists, n, n / 2); });
  }
}

TEST_SUITE("several_devices") {
  TEST_CASE("host data in several parts, on one device") {
    if (devices_are_here(1)) expect_divided(one_device);
  }
  TEST_CASE("host data in several parts, on two devices") {
    if (devices_are_here(2)) expect_divided(two_devices);
  }
  TEST_CASE("exact results of long data have the bits of the CPU, on one device") {
    if (!devices_are_here(1)) return;
    expect_cpu_bits<float>(one_device);
    expect_cpu_bits<double>(one_device);
  }
  TEST_CASE("exact results of long data have the bits of the CPU, on two devices") {
    if (!devices_are_here(2)) return;
    expect_cpu_bits<float>(two_devices);
    expect_cpu_bits<double>(two_devices);
  }
  TEST_CASE("the order of fast, on one device") {
    if (devices_are_here(1)) expect_order_of_fast(one_device);
  }
  TEST_CASE("the order of fast, on two devices") {
    if (devices_are_here(2)) expect_order_of_fast(two_devices);
  }
  TEST_CASE("sharded data on one device") {
    if (devices_are_here(1)) expect_sharded(one_device);
  }
  TEST_CASE("sharded data on two devices") {
    if (devices_are_here(2)) expect_sharded(two_devices);
  }

  TEST_CASE("lanes count the parts of which no element takes part") {
    if (!devices_are_here(1)) return;
    const float x[] = {1, 1, 1, 1};
    const std::uint8_t mask[] = {1, 1, 0, 0};
    const input_views some = input_views(std::span<const float>(x)).where({mask});
    for (const operation what : {operation::all, operation::any, operation::sum, operation::min}) {
      CAPTURE(to_string(what));
      std::vector<std::int64_t> lanes(lanes_of(what, element_type::f32).count);
      to_lanes(what, some, lanes, {.backend = "cuda", .devices = one_device[1]});
      scalar value = reduce(what, some, {.backend = "serial"}).value;
      const scalar expected = value;
      fanin::visit([&](auto& one) { from_lanes(what, element_type::f32, lanes, result_view(one)); }, value);
      CHECK(same(value, expected));
    }
  }

  TEST_CASE("auto chooses a backend with devices, and an overflow of all parts is one") {
    if (!devices_are_here(1)) return;
    const device_list twice = {0, 0};
    CHECK(sum(std::vector<double>{1, 2, 3}, {.devices = twice}).report.backend == "cuda");
    const std::vector<std::int64_t> large(2, std::numeric_limits<std::int64_t>::max());
    CHECK_THROWS_AS(sum(large, {.devices = twice}), overflow);
    CHECK_THROWS_AS(min(std::vector<float>{}, {.devices = twice}), invalid_argument);
    CHECK(sum(std::vector<float>{}, {.devices = twice}).value == 0);
    const plan planned(operation::sum, element_type::f64, {.devices = twice});
    CHECK(same(planned(std::span<const double>(std::vector<double>{1, 2, 4})).value, scalar(7.0)));
  }

  TEST_CASE("the command prints the same digits with one device, with all, and on the CPU") {
    if (!devices_are_here(1)) return;
    const cli::scratch_folder here;
    REQUIRE(here.fanin("generate normal --type f64 --count 2^23 -o x.npy").status == 0);
    const std::string expected = here.fanin("sum x.npy --backend serial").out;
    CHECK(expected.size() > 10);
    for (const char* devices : {"0", "0,0,0", "all"}) {
      CHECK(here.fanin("sum x.npy --devices " + std::string(devices)).out == expected);
      CHECK(here.shell("cat x.npy | $fanin sum - --devices " + std::string(devices)).out == expected);
    }
    const std::string joint = here.fanin("reduce sum,mean x.npy --backend serial").out;
    CHECK(here.fanin("reduce sum,mean x.npy --devices all").out == joint);
    CHECK(here.fanin("sum x.npy x.npy --together --devices all").status == 2);
    CHECK(here.fanin("sum x.npy --devices 4096").err.find("there is no device 4096") != std::string::npos);
  }

  TEST_CASE("what is not divided among devices is refused by name") {
    if (!devices_are_here(1)) return;
    const device_list first = {0}, none_such = {0, 4096}, negative = {-1};
    const std::vector<float> x(12, 1.0f);
    const options on_first{.backend = "cuda", .devices = first};
    for (const device_list& wrong : {none_such, negative}) {
      CHECK_THROWS_WITH_AS(sum(x, {.devices = wrong}), doctest::Contains("there is no device"), invalid_argument);
    }
    CHECK_THROWS_WITH_AS(sum(x, {.backend = "serial", .devices = first}), doctest::Contains("serial has no devices"),
                         unsupported);
    CHECK_THROWS_WITH_AS(incremental(operation::sum, element_type::f32, on_first), doctest::Contains("a stream"),
                         unsupported);
    CHECK_THROWS_WITH_AS(describe(x, on_first), doctest::Contains("description"), unsupported);
    float sums[3];
    CHECK_THROWS_WITH_AS(sum(rows(std::span<const float>(x), {3, 4}, -1), sums, on_first), doctest::Contains("rows"),
                         unsupported);
    const device_array<float> there{std::span<const float>(x)};
    CHECK_THROWS_WITH_AS(reduce(operation::sum, there.elements(), on_first), doctest::Contains("device memory"),
                         unsupported);
    device_context context;
    CHECK_THROWS_WITH_AS(reduce(operation::sum, there.elements(), context, on_first), doctest::Contains("a context"),
                         unsupported);
  }

  TEST_CASE("what is no sharded data is refused") {
    if (!devices_are_here(1)) return;
    const std::vector<float> x(12, 1.0f);
    const device_array<float> there{std::span<const float>(x)};
    const device_array<double> of_doubles{std::span<const double>(std::vector<double>(3, 1.0))};
    const device_list first = {0};
    const std::vector<input_views> none, right = {there.elements()},
                                         on_host = {there.elements(), array_view(std::span<const float>(x))},
                                         mixed = {there.elements(), of_doubles.elements()},
                                         uneven = {there.elements(), {there.elements(), there.elements()}},
                                         too_long = {device_span<float>(there.data(), std::size_t{1} << 44)};
    for (const auto* wrong : {&none, &on_host, &mixed, &uneven, &too_long}) {
      CHECK_THROWS_AS(reduce(operation::sum, sharded(*wrong)), invalid_argument);
    }
    CHECK_THROWS_AS(reduce(operation::sum, sharded(right), {.backend = "serial"}), unsupported);
    CHECK_THROWS_AS(reduce(operation::sum, sharded(right), {.devices = first}), unsupported);
    CHECK_THROWS_AS(reduce(operation::dot, sharded(right)), invalid_argument);
    CHECK(same(reduce(operation::sum, sharded(right)).value, scalar(12.0f)));
  }
}

}  // namespace
}  // namespace fanin::test
