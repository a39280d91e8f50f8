// SPDX-License-Identifier: Apache-2.0
// Tables of text grouped by their columns: results for each group of records that have the same key.
#pragma once

#include <vector>

#include <fanin/request.hpp>

#include "cli/batch/options.hpp"
#include "cli/input/source.hpp"
#include "cli/quantile/statistic.hpp"

namespace fanin::cli {

/// Reductions whose batch_options::by is given.
struct by_request {
  std::vector<statistic> statistics;
  bool joint = false;  ///< JSON is an array with an object for each statistic
  std::vector<input_options> inputs;
  bool together = false;  ///< the groups of all inputs, as if they were one
  batch_options many;
  options chosen;
  bool force = false;  ///< replace the file `many.output`
  bool explain = false, json = false;
};

/// Prints a line for each group, or writes it to the file: the fields of its key and the statistics of each
/// column. A line above names the fields if the input does, or with batch_options::csv. The inputs are in
/// memory.
/// @throws usage_error, bad_data, fanin::error
void run_by(by_request asked);

}  // namespace fanin::cli
