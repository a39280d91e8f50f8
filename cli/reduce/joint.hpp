// SPDX-License-Identifier: Apache-2.0
// Several statistics in one pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/batch/options.hpp"
#include "cli/input/options.hpp"
#include "cli/kit/options.hpp"
#include "cli/quantile/statistic.hpp"

namespace fanin::cli {

struct joint_options {
  std::vector<std::string> files;
  input_options input;    ///< how the files are read
  bool together = false;  ///< one result of all files
  batch_options many;
  run_options how;
  bool force = false;  ///< replace the file of the results
  bool explain = false, json = false;
};

/// The label in front of a value that is printed alone. JSON without labels is an object if there is one result.
enum class line_label : std::uint8_t { none, share, name };

/// Adds the options of the input and of its results.
void add_joint_options(CLI::App& parser, joint_options& arguments);

/// Prints the statistics of each column of each file, or of rows, segments or groups. `subcommand` is for messages.
/// @throws usage_error, bad_data, fanin::error
void run_joint_reduction(std::string_view subcommand, const std::vector<statistic>& statistics, line_label label,
                         joint_options arguments);

}  // namespace fanin::cli
