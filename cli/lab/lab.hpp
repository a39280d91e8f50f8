// SPDX-License-Identifier: Apache-2.0
// The experiments and the results of fanin lab.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/facts.hpp"
#include "cli/kit/json.hpp"

namespace fanin::cli {

enum class experiment : std::uint8_t { divergence, occupancy, shapes, latency };
inline constexpr experiment all_experiments[] = {experiment::divergence, experiment::occupancy, experiment::shapes,
                                                 experiment::latency};
std::string_view to_string(experiment which);

/// A column of the table in the text: the rows' values under `key`. Numbers are multiplied by `scale` and have
/// `digits` decimals.
struct lab_column {
  std::string_view key, heading;
  int digits = 0;
  double scale = 1;
};

/// The results of one experiment.
struct lab_page {
  experiment which;
  std::vector<fact> facts;  ///< facts that hold for all rows; the device's name is the first
  std::vector<lab_column> columns;
  /// A list of objects. If a result was wrong, `verified` is false and the times are null. `says`, if present, is a
  /// sentence about the row, without a full stop.
  json rows = json::array();
};

/// Runs one experiment on a device. Defined in builds with CUDA only; see gpu.hpp.
/// @throws invalid_argument, backend_unavailable, out_of_memory, device_error
lab_page run_experiment(experiment which, int device);

json as_json(const lab_page& page);
std::string as_text(const lab_page& page);

}  // namespace fanin::cli
