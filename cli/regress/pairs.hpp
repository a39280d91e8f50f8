// SPDX-License-Identifier: Apache-2.0
// The pairs that `fanin regress` makes of the results of single processes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/regress/read.hpp"
#include "cli/regress/regress.hpp"

namespace fanin::cli {

/// Adds one pair to the result. `sides` are the results of A, B and optionally a second run of A. A case of `only`
/// that is not in all of the results is left out. A case that is decided gets no more times.
/// @throws bad_data if no case is left
void add_pair(regress_result& all, std::span<const measured> sides, const case_names& only = {});

/// Judges every case of `only` that is undecided by its pairs; see judge() for `error`.
void judge_cases(regress_result& all, double error = error_rate, const case_names& only = {});

/// The names of the cases of `only` that are undecided.
std::vector<std::string> undecided_names(const regress_result& all, const case_names& only = {});

/// The number of verdicts that the run has to find: one for each quantity of each case.
std::size_t hypotheses_of(const regress_result& all);

/// Judges every case by the one pair of two result files: only a factor of 2 is called slower or faster.
void judge_files(regress_result& all);

}  // namespace fanin::cli
