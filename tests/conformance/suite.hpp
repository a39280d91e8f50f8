// SPDX-License-Identifier: Apache-2.0
// The suite for one backend: every check is a test of its own.
#pragma once

#include <string_view>

#include "tests/conformance/checks.hpp"
#include "tests/support/usable.hpp"

namespace fanin::test {

/// Runs every check on the backend of that name, if it is usable(). Bounds of openmp and tbb are left to
/// conformance_in_full().
void conformance(std::string_view backend_name);

/// Runs the checks of which conformance() runs a part.
void conformance_in_full(std::string_view backend_name);

/// Runs the check that needs much memory and time.
void conformance_over_4_gib(std::string_view backend_name);

}  // namespace fanin::test
