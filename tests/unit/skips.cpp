// SPDX-License-Identifier: Apache-2.0
// Tests of the exit status of a test executable that skips test cases. A second process of this program runs hidden
// test cases.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/skip.hpp"

namespace fanin::test {
namespace {

/// The exit status of this program when it runs the hidden test cases that match the patterns.
int status_of_cases(const std::string& patterns) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const int state =
      std::system(("'" + program + "' --no-skip --test-case='" + patterns + "' >/dev/null 2>&1").c_str());
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST_SUITE_BEGIN("skips");

TEST_CASE("only a run of which every case was skipped counts as skipped") {
  CHECK(status_of_cases("hidden: skips") == skipped_status);
  CHECK(status_of_cases("hidden: skips,hidden: skips too") == skipped_status);
  CHECK(status_of_cases("hidden: skips,hidden: passes") == 0);
  CHECK(status_of_cases("hidden: passes") == 0);
  CHECK(status_of_cases("no such case") == 0);
}

TEST_CASE("a failure counts, also beside and after a skip") {
  CHECK(status_of_cases("hidden: fails") == 1);
  CHECK(status_of_cases("hidden: skips,hidden: fails") == 1);
  CHECK(status_of_cases("hidden: skips and fails") == 1);
}

TEST_CASE("hidden: skips" * doctest::skip()) { skip("a reason"); }
TEST_CASE("hidden: skips too" * doctest::skip()) { skip("another reason"); }
TEST_CASE("hidden: passes" * doctest::skip()) { CHECK(true); }
TEST_CASE("hidden: fails" * doctest::skip()) { CHECK(false); }
TEST_CASE("hidden: skips and fails" * doctest::skip()) {
  skip("a reason");
  CHECK(false);
}

TEST_SUITE_END();

}  // namespace
}  // namespace fanin::test
