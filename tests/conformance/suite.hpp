// The suite for one backend: every check is a test of its own.
#pragma once

#include <string>
#include <string_view>

#include "tests/conformance/checks.hpp"

namespace fanin::test {

enum class verdict { run, skip, fail };

/// What becomes of a backend's suite; `required` is a comma list of the backends that have to be usable.
verdict verdict_on(const backend& b, std::string_view required);

/// Runs every check on the backend of that name. Where it is not usable, says so in the words that ctest takes for a
/// skipped test, or fails if the environment variable FANIN_REQUIRE_BACKENDS names it.
void conformance(std::string_view backend_name);

/// The same for the check that needs much memory and time.
void conformance_over_4_gib(std::string_view backend_name);

}  // namespace fanin::test
