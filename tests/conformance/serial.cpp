// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/conformance/suite.hpp"

TEST_SUITE("conformance/serial") {
  TEST_CASE("keeps the contract") { fanin::test::conformance("serial"); }
}

TEST_SUITE("conformance_in_full/serial") {
  TEST_CASE("every number of threads and of results") { fanin::test::conformance_in_full("serial"); }
}

TEST_SUITE("conformance_over_4_gib/serial") {
  TEST_CASE("more than 2^32 bytes") { fanin::test::conformance_over_4_gib("serial"); }
}
