// SPDX-License-Identifier: Apache-2.0
// Skips the rest of a test case on a machine that lacks something that the test case needs.
#pragma once

#include <string>

namespace fanin::test {

/// Prints why the current test case is skipped, and marks it as skipped; the test case returns after this call. The
/// exit status of the executable is skipped_status if every test case that ran was skipped and none failed.
void skip(const std::string& why);

/// The exit status by which CTest recognises a skipped suite; cmake/list_suites.cmake tells CTest.
constexpr int skipped_status = 77;

}  // namespace fanin::test
