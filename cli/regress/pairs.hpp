// SPDX-License-Identifier: Apache-2.0
// The results of single processes, and the pairs that `fanin regress` makes of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/regress/regress.hpp"

namespace fanin::cli {

/// The result of one process.
struct measured {
  std::vector<std::string> names;
  std::map<std::string, double> seconds;
  std::map<std::string, std::string> problems;
  std::string machine;
};

/// Reads what `fanin bench --json` prints. `from` names the program or the file in messages.
/// @throws bad_data (not such a result, a case twice, a time that is not above 0, a wrong value)
measured read_result(const std::string& from, const std::string& text);

/// Adds one pair to the result. `sides` are the results of A, B and optionally a second run of A. A case that is not
/// in all of them is left out.
/// @throws bad_data if no case is left
void add_pair(regress_result& all, std::span<const measured> sides);

/// Judges every case by its pairs.
void judge_cases(regress_result& all);

/// Judges every case by the one pair of two result files: only a factor of 2 is called slower or faster.
void judge_files(regress_result& all);

}  // namespace fanin::cli
