// SPDX-License-Identifier: Apache-2.0
// Complex numbers in device memory, wherever the arrays begin, and results that stay there.
#include <doctest/doctest.h>

#include <fanin/error.hpp>

#include "oracle/complex_truth.hpp"
#include "tests/cuda/device_memory.hpp"
#include "tests/support/call.hpp"
#include "tests/support/inputs.hpp"

namespace fanin::test {
namespace {

template <class T>
void expect_every_operation(const std::vector<T>& both, device_context& context) {
  const std::size_t count = both.size() / 2;
  const auto x = std::span<const T>(both).first(count), y = std::span<const T>(both).last(count);
  for (const auto& [first, second] : {std::pair{0, 0}, {1, 1}, {0, 1}, {3, 2}}) {
    const device_array<T> x_there(x, first), y_there(y, second);
    for (const operation what : all_operations) {
      const bool pairs = row_of(what).inputs == 2;
      if (!row_of(what).of_complex.fast) continue;
      const oracle::complex_truth exact(what, pairs ? std::span<const T>(both) : x);
      const input_views inputs =
          pairs ? input_views(x_there.elements(), y_there.elements()) : input_views(x_there.elements());
      for (const method how : all_methods) {
        if (!is_offered(what, type_of<T>, how)) continue;
        INFO(told(what, x_there.elements(), {.method = how}));
        const auto found = reduce(what, inputs, context, {.method = how});
        CHECK(exact.judge(found.value, found.report) != oracle::promise::broken);
        CHECK(same(enqueued(what, inputs, {.method = how}, context), found.value));
      }
    }
    CHECK(x_there.untouched());
    CHECK(y_there.untouched());
  }
}

}  // namespace

TEST_SUITE("complex_numbers") {
  TEST_CASE_TEMPLATE("every operation and method keeps its promise", T, std::complex<float>, std::complex<double>) {
    if (!device_is_here()) return;
    device_context context;
    for (const std::size_t count : {1, 2, 33, 4097, 100003, 4000003}) {
      expect_every_operation(mixed_values<T>(2 * count, count), context);
      expect_every_operation(near_one<T>(2 * count, count), context);
    }
  }

  TEST_CASE_TEMPLATE("elements are aligned to their size", T, std::complex<float>, std::complex<double>) {
    if (!device_is_here()) return;
    device_context context;
    const std::vector<part_of<T>> parts(100, 1);
    const device_array<part_of<T>> there(std::span<const part_of<T>>(parts), 1);
    const array_view odd(there.data(), 40, type_of<T>, memory::device);
    CHECK_THROWS_AS(reduce(operation::sum, odd, context), invalid_argument);
  }
}

}  // namespace fanin::test
