// SPDX-License-Identifier: Apache-2.0
// Tests the kernel that ends reductions, for the types that finish_kernels.cpp leaves out.
#include <doctest/doctest.h>

#include "tests/unit/finish_checks.hpp"

namespace fanin::test {

using namespace finish_checks;

TEST_SUITE("unit/finish_kernels_in_full") {
  TEST_CASE_TEMPLATE("every recipe and type of a result", T, double, e4m3, std::uint16_t, std::complex<double>) {
    check_every_recipe<T>();
  }
}

}  // namespace fanin::test
