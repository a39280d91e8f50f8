// SPDX-License-Identifier: Apache-2.0
// Runs the pairs of processes of `fanin regress`.
#pragma once

#include <cstdint>
#include <span>

#include "cli/regress/regress.hpp"
#include "cli/regress/sides.hpp"

namespace fanin::cli {

struct run_plan {
  process_request process;
  double threshold = 0;
  std::uint64_t pairs = 0;      ///< pairs of every case, or 0 to add pairs until the cases are decided
  double at_most_seconds = 60;  ///< how long pairs are added
  bool floor = false;           ///< whether A runs on both sides of B in each pair
  std::string setup;            ///< a command of the shell before the first pair
  std::uint64_t warmups = 0;    ///< runs of both sides before the first pair, which are not timed
  bool compare_output = false;  ///< whether the outputs of A and B must be the same
  std::uint64_t layouts = 0;    ///< sizes of the environment that the pairs have in turn; 0 to leave it as it is
  std::vector<std::string> controls;  ///< patterns of the names of cases that the change cannot touch
};

/// Runs the pairs A B, B A, A B, ... and judges the cases. Cases that share no process are measured one after the
/// other, the cheapest first. A SIGINT ends the run after the pairs that are done. A side that is built in several
/// orders has a program for each, which the pairs take in turn, from the first one on.
/// @throws bad_data, also if the first pair is interrupted; usage_error if there are too few or too many pairs
regress_result run_pairs(std::span<const side> a, std::span<const side> b, const run_plan& plan);

}  // namespace fanin::cli
