// SPDX-License-Identifier: Apache-2.0
// Whether a test that needs a backend is to go on.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include <fanin/backend.hpp>

#include "tests/support/skip.hpp"

namespace fanin::test {

enum class verdict { run, skip, fail };

/// Whether a backend's tests run, are skipped or fail. `required` is a comma list of the backends that have to be
/// usable.
inline verdict verdict_on(const backend& b, std::string_view required) {
  if (b.probe().usable()) return verdict::run;
  const auto between_commas = [](std::string_view text) { return std::string(1, ',').append(text).append(1, ','); };
  const bool is_required = between_commas(required).find(between_commas(b.name())) != std::string::npos;
  return is_required ? verdict::fail : verdict::skip;
}

/// Whether `b` is usable. If not, the test case is skipped, or fails if the environment variable
/// FANIN_REQUIRE_BACKENDS names `b`.
inline bool usable(const backend& b) {
  const char* required = std::getenv("FANIN_REQUIRE_BACKENDS");
  const verdict what = verdict_on(b, required != nullptr ? required : "");
  const std::string why = std::string(b.name()) + " is not usable here: " + std::string(b.probe().detail);
  if (what == verdict::fail) FAIL(why);
  if (what == verdict::skip) skip(why);
  return what == verdict::run;
}

}  // namespace fanin::test
