// SPDX-License-Identifier: Apache-2.0
// Extrema of infinities alone, on every instruction set of this machine: a loop that begins with the least or the
// largest finite number would return that number.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/support/targets.hpp"

TEST_SUITE("unit/extrema") {
  TEST_CASE_TEMPLATE("infinities alone are their own extrema", T, float, double) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    for (const T value : {infinity, -infinity}) {
      for (const std::size_t count : {1, 2, 7, 16, 31, 62, 200, 5000}) {
        const std::vector<T> x(count, value);
        CAPTURE(count);
        fanin::test::on_every_target([&] {
          CHECK(fanin::min(x).value == value);
          CHECK(fanin::max(x).value == value);
          CHECK((fanin::minmax(x).value == fanin::extremes<T>{value, value}));
          CHECK((fanin::argmin(x).value == fanin::indexed<T>{value, 0}));
          CHECK((fanin::argmax(x).value == fanin::indexed<T>{value, 0}));
          CHECK(fanin::max_magnitude(x).value == infinity);
        });
      }
    }
  }
}
