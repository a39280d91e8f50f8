// fanin lab: experiments on how a device executes, what they found, and how it looks.
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

/// A column of the text's table: a key of the rows; numbers are scaled, and so many digits follow the point.
struct lab_column {
  std::string_view key, heading;
  int digits = 0;
  double scale = 1;
};

/// What an experiment found.
struct lab_page {
  experiment which;
  std::vector<fact> facts;  ///< true of all rows; the device first
  std::vector<lab_column> columns;
  json rows = json::array();  ///< objects; `verified` is false and times are null where a result was wrong; `says`,
                              ///< where present, is a sentence about the row, without a full stop
};

/// Runs one experiment on a device. Defined in builds with CUDA only; see gpu.hpp.
/// @throws invalid_argument, backend_unavailable, out_of_memory, device_error
lab_page run_experiment(experiment which, int device);

json as_json(const lab_page& page);
std::string as_text(const lab_page& page);

}  // namespace fanin::cli
