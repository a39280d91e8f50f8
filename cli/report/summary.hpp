// SPDX-License-Identifier: Apache-2.0
// The numbers on top of a report, each with a verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/report/results.hpp"

namespace fanin::cli::charts {

/// Whether a value meets its mark. A value that was disturbed does not decide it.
enum class outcome : std::uint8_t { met, missed, undecided };

struct key_number {
  std::string value;    ///< as in "99 %"
  std::string name;     ///< what the value is
  std::string detail;   ///< the rows that it comes from
  std::string verdict;  ///< how the value compares with its mark, which it names
  outcome reached;
  std::string section;  ///< the kind of chart that shows the rows; empty if none does
};

/// At most five numbers, the most important numbers first. A number that cannot be computed from the results is
/// left out.
std::vector<key_number> key_numbers(const results& all);

}  // namespace fanin::cli::charts
