// SPDX-License-Identifier: Apache-2.0
// The question and the results of fanin ladder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/request.hpp>
#include <fanin/result.hpp>

#include "cli/kit/json.hpp"
#include "oracle/promise.hpp"

namespace fanin::cli {

struct ladder_question {
  operation what = operation::sum;
  element_type type = element_type::f32;
  std::size_t count = std::size_t{1} << 24;
  unsigned block_size = 0;  ///< threads per block; 0 takes each stage's default
  int device = 0;
  std::vector<std::string> stages;  ///< names of stages; empty for all stages
  bool cycles = false;
};

/// The resources that a stage's kernel occupies on the device.
struct stage_footprint {
  unsigned block_size, blocks;
  int registers;             ///< registers per thread
  std::size_t shared_bytes;  ///< shared memory per block
  double occupancy;          ///< resident warps divided by the most that a multiprocessor can hold
};

struct ladder_row {
  std::optional<int> number;   ///< number of the stage; empty for a backend
  std::string_view name;       ///< name of the stage or backend
  std::string_view builds_on;  ///< name of the stage that this stage improves, or empty
  fanin::reproducibility reproducibility;
  oracle::promise exact, cub, thrust;  ///< agreement with the exact result, CUB's and Thrust's
  std::optional<stage_footprint> footprint;
  std::optional<double> seconds;  ///< empty if the value was wrong
  std::optional<double> cycles;   ///< median of the clock cycles per block

  /// `broken` if one of the three comparisons is, else `none` if one of them is, else `kept`.
  oracle::promise verified() const;
};

struct ladder {
  ladder_question question;
  std::string device;
  scalar exact;
  double ceiling_seconds;
  std::vector<ladder_row> rows;  ///< rows of the stages in order, then of the backends
  std::vector<std::pair<std::string_view, std::string>> left_out;  ///< stage, and the reason why it has no row
};

/// Checks and measures every stage of the question, then the backends. Defined in builds with CUDA only; see gpu.hpp.
/// @throws usage_error, invalid_argument, unsupported, backend_unavailable, out_of_memory, device_error
ladder measure_ladder(const ladder_question& question);

json as_json(const ladder& all);
/// The rows of the JSON object as CSV with a heading.
std::string as_csv(const ladder& all);
std::string as_text(const ladder& all);

}  // namespace fanin::cli
