// SPDX-License-Identifier: Apache-2.0
// Every entry of the library in a floating-point environment of the caller: it answers as in the default one, and
// leaves the caller's as it was.
#pragma once

#include <algorithm>
#include <cfenv>
#include <iterator>
#include <string>
#include <vector>

#include <fanin/fanin.hpp>

#include "tests/fuzz/differential_case.hpp"
#include "tests/support/float_environment.hpp"

namespace fanin::fuzz {

using environment = test::caller_environment;
inline constexpr environment default_environment{"default", FE_TONEAREST, test::subnormals::kept};
inline constexpr std::size_t environment_count = 1 + std::size(test::caller_environments);
constexpr const environment& environment_of(std::size_t choice) {
  return choice == 0 ? default_environment : test::caller_environments[choice - 1];
}

/// The answer of a call: values, the facts of the report, and the lanes if there are lanes.
struct answer {
  std::vector<scalar> values;
  report done;
  std::vector<std::int64_t> lanes = {};
  std::string error = {};  ///< set in place of all other members
  bool has_overflowed = false;

  const scalar& value() const { return values.front(); }
};

inline std::string told(const answer& one) {
  if (!one.error.empty()) return one.error;
  std::string text;
  for (const scalar& value : one.values) {
    fanin::visit(
        [&](const auto& v) {
          for (const auto word : test::words_of(v)) text += in_hex(word) + " ";
        },
        value);
  }
  const error_bound& bound = one.done.bound;
  return text + "bound " + in_hex(bound.of_result) + " " + in_hex(bound.of_magnitudes) + " " +
         in_hex(bound.absolute) + " by " + std::string(one.done.backend) + " " + std::string(one.done.variant);
}

inline bool same_bounds(const error_bound& a, const error_bound& b) {
  return a.of_result == b.of_result && a.of_magnitudes == b.of_magnitudes && a.absolute == b.absolute;
}

/// Whether the answers are equal, but for values that the report does not promise to be equal.
inline bool same(const answer& a, const answer& b) {
  const bool repeats = a.done.reproducibility != reproducibility::none;
  return a.error == b.error && same_bounds(a.done.bound, b.done.bound) && a.done.absent == b.done.absent &&
         a.lanes == b.lanes && a.values.size() == b.values.size() &&
         (!repeats || std::ranges::equal(a.values, b.values, test::same));
}

/// The answer of call() in the default environment, after the same call in `caller`.
template <class Call>
answer answered(const environment& caller, Call call) {
  const auto attempt = [&]() -> answer {
    try {
      return call();
    } catch (const overflow& problem) {
      return {{}, {}, {}, problem.what(), true};
    } catch (const error& problem) {
      return {{}, {}, {}, problem.what()};
    }
  };
  answer expected = attempt();
  if (&caller == &default_environment) return expected;
  answer got;
  bool unchanged = false;
  {
    const test::changed_environment here(caller.rounding, caller.how);
    got = attempt();
    unchanged = here.unchanged();
  }
  const std::string name(caller.name);
  require(unchanged, "the caller's environment stays", name);
  if (!same(got, expected))
    require(false, "the environment changes nothing", name + ": " + told(got) + " instead of " + told(expected));
  return expected;
}

}  // namespace fanin::fuzz
