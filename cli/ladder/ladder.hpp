// fanin ladder: what is asked, what was measured, and how it looks.
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
  unsigned block_size = 0;  ///< 0: each stage's own
  int device = 0;
  std::vector<std::string> stages;  ///< empty: all
  bool cycles = false;
};

/// What a stage's kernel occupies on the device.
struct stage_footprint {
  unsigned block_size, blocks;
  int registers;             ///< per thread
  std::size_t shared_bytes;  ///< per block
  double occupancy;          ///< warps at a time, of the most that a multiprocessor can have
};

struct ladder_row {
  std::optional<int> number;   ///< of the stage; a backend has none
  std::string_view name;       ///< of the stage, or of the backend
  std::string_view builds_on;  ///< name of another stage; empty: none
  fanin::reproducibility reproducibility;
  oracle::promise exact, cub, thrust;  ///< whether it agrees with them, as closely as its bound says
  std::optional<stage_footprint> footprint;
  std::optional<double> seconds;  ///< none: the value was wrong, so nothing was timed
  std::optional<double> cycles;   ///< of a block, median

  /// All three together.
  oracle::promise verified() const;
};

struct ladder {
  ladder_question question;
  std::string device;
  scalar exact;
  double ceiling_seconds;
  std::vector<ladder_row> rows;                                    ///< the stages in order, then the backends
  std::vector<std::pair<std::string_view, std::string>> left_out;  ///< stages, and why
};

/// Checks and measures every stage of the question, then the backends. Defined in builds with CUDA only; see gpu.hpp.
/// @throws usage_error, invalid_argument, unsupported, backend_unavailable, out_of_memory, device_error
ladder climb(const ladder_question& question);

json as_json(const ladder& all);
/// The rows of the JSON object, with a heading.
std::string as_csv(const ladder& all);
std::string as_text(const ladder& all);

}  // namespace fanin::cli
