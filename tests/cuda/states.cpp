// SPDX-License-Identifier: Apache-2.0
// Exact sums whose states are formed on a device: those of the elements added one by one.
#include <doctest/doctest.h>

#include <fanin/state.hpp>

#include "tests/cuda/device_memory.hpp"
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
}

}  // namespace fanin::test
