// SPDX-License-Identifier: Apache-2.0
// How an array is cut into parts for devices, and how their states become one, checked without a device.
#include <doctest/doctest.h>

#include <cstring>
#include <new>
#include <vector>

#include "backends/cuda/partial_result.hpp"
#include "backends/cuda/several_devices.hpp"

namespace fanin::test {
namespace {

using cuda::partial_result;

/// The state of `count` elements. Their smallest element is `value` at `index`.
partial_result part_with(const cuda::state_functions& fold, double value, std::uint64_t index, std::uint64_t count) {
  partial_result part;
  ::new (part.total.bytes) indexed<double>{value, index};
  part.set_counts(fold, stand_in::other, count, count, 0);
  part.chain = {5, static_cast<double>(count)};
  return part;
}

TEST_SUITE("device_parts") {
  TEST_CASE("the parts differ by at most one element, and lie one after another") {
    const std::vector<float> x(10), y(10);
    const int devices[] = {1, 0, 1, 2};
    for (const std::size_t n : {0, 1, 3, 4, 10}) {
      request asked;
      asked.inputs = {std::span<const float>(x).first(n), std::span<const float>(y).first(n)};
      asked.devices = devices;
      const auto parts = cuda::divided_among_devices(asked);
      REQUIRE(parts.size() == 4);
      std::size_t first = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(parts[i].device == devices[i]);
        CHECK(parts[i].inputs.count() == n / 4 + (i < n % 4 ? 1 : 0));
        CHECK(parts[i].inputs[0].data == x.data() + first);
        CHECK(parts[i].inputs[1].data == y.data() + first);
        first += parts[i].inputs.count();
      }
      CHECK(first == n);
    }
  }

  TEST_CASE("positions go on where the parts before end, and the first of equal elements stays") {
    const cuda::state_functions fold = cuda::find_state_functions(operation::argmin, element_type::f64, method::fast);
    partial_result all = part_with(fold, 2, 1, 10);
    const auto state = [&] { return *reinterpret_cast<const indexed<double>*>(all.total.bytes); };
    partial_result next = part_with(fold, 1, 4, 5);
    all.append(fold, next);
    CHECK(state().value == 1);
    CHECK(state().index == 14);
    next = part_with(fold, 1, 0, 7);
    all.append(fold, next);
    CHECK(state().index == 14);
    CHECK(all.count == 22);
    CHECK(all.present == 22);
    CHECK(all.chain.adds == 5);
    CHECK(all.chain.merges >= 10 + 2);
  }

  TEST_CASE("a part none of whose elements takes part only adds to the count, and moves those behind it") {
    const cuda::state_functions fold = cuda::find_state_functions(operation::argmin, element_type::f64, method::fast);
    partial_result all = part_with(fold, -1, 0, 3), next = part_with(fold, 7, 2, 9);
    all.set_counts(fold, stand_in::other, 3, 0, 0);
    all.append(fold, next);
    CHECK(reinterpret_cast<const indexed<double>*>(all.total.bytes)->index == 5);
    CHECK(all.count == 12);
    CHECK(all.present == 9);
    partial_result none = part_with(fold, -9, 0, 4);
    none.set_counts(fold, stand_in::other, 4, 0, 0);
    all.append(fold, none);
    CHECK(reinterpret_cast<const indexed<double>*>(all.total.bytes)->value == 7);
    CHECK(all.count == 16);
    CHECK(all.present == 9);
    CHECK(all.held == 9);  // The state counts no stand-ins of the two parts without elements.
  }

  TEST_CASE("ones that stand for the elements of a part are counted as others are") {
    const cuda::state_functions fold = cuda::find_state_functions(operation::all, element_type::f32, method::fast);
    partial_result all, next;
    const std::uint64_t trues[] = {2, 3};
    std::memcpy(all.total.bytes, &trues[0], sizeof trues[0]);
    std::memcpy(next.total.bytes, &trues[1], sizeof trues[1]);
    all.set_counts(fold, stand_in::one, 2, 2, 0);
    next.set_counts(fold, stand_in::one, 3, 0, 0);
    all.append(fold, next);
    CHECK(std::memcmp(all.total.bytes, &all.held, sizeof all.held) == 0);
    CHECK(all.held == 5);
    CHECK(all.present == 2);
  }

  TEST_CASE("elements at the front that are left out move the position") {
    const cuda::state_functions fold = cuda::find_state_functions(operation::argmax, element_type::f64, method::fast);
    partial_result all = part_with(fold, 2, 1, 10);
    all.set_counts(fold, stand_in::other, 10, 4, 6);
    CHECK(reinterpret_cast<const indexed<double>*>(all.total.bytes)->index == 7);
  }
}

}  // namespace
}  // namespace fanin::test
