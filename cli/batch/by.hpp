// SPDX-License-Identifier: Apache-2.0
// A table of text grouped by its columns: a result for each group of records that have the same key.
#pragma once

#include <vector>

#include <fanin/request.hpp>

#include "cli/batch/options.hpp"
#include "cli/input/source.hpp"

namespace fanin::cli {

/// Reductions whose batch_options::by is given.
struct by_request {
  std::vector<operation> operations;
  bool joint = false;  ///< JSON is an array with an object for each operation
  input_options input;
  batch_options many;
  options chosen;
  bool explain = false, json = false;
};

/// Prints a line for each group: the fields of its key and the values, separated as the input is.
/// @throws usage_error, bad_data, fanin::error
void run_by(by_request asked);

}  // namespace fanin::cli
