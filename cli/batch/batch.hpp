// SPDX-License-Identifier: Apache-2.0
// Many results of one input: reductions along axes, of segments, or of groups.
#pragma once

#include <string>
#include <vector>

#include <fanin/request.hpp>

#include "cli/batch/options.hpp"
#include "cli/input/source.hpp"
#include "cli/quantile/statistic.hpp"

namespace fanin::cli {

/// Reductions whose batch_options are given().
struct batch_request {
  std::vector<statistic> statistics;
  bool joint = false;                 ///< JSON is an array with an object for each statistic
  std::vector<input_options> inputs;  ///< one, or two of an operation of two
  batch_options many;
  options chosen;
  bool force = false;  ///< replace the file `many.output`
  bool explain = false, json = false;
};

/// Prints a line for each result, with the value of every statistic, or writes the results of one to the
/// file. All elements are loaded into memory, or mapped.
/// @throws usage_error, bad_data, fanin::error
void run_batch(const batch_request& asked);

}  // namespace fanin::cli
