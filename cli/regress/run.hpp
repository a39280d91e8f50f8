// SPDX-License-Identifier: Apache-2.0
// Runs the pairs of processes of `fanin regress`.
#pragma once

#include <cstdint>

#include "cli/regress/regress.hpp"
#include "cli/regress/sides.hpp"

namespace fanin::cli {

struct run_plan {
  process_request process;
  double threshold = 0;
  std::uint64_t pairs = 0;      ///< pairs of every case, or 0 to add pairs until the cases are decided
  double at_most_seconds = 60;  ///< how long pairs are added
  bool floor = false;           ///< whether A runs on both sides of B in each pair
};

/// Runs the pairs A B, B A, A B, ... and judges the cases. Cases that share no process are measured one after the
/// other, the cheapest first. A SIGINT ends the run after the pairs that are done.
/// @throws bad_data, also if the first pair is interrupted; usage_error if there are too few or too many pairs
regress_result run_pairs(const side& a, const side& b, const run_plan& plan);

}  // namespace fanin::cli
