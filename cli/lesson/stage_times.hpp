// SPDX-License-Identifier: Apache-2.0
// The measured times and gains of the stages of the ladder.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/json.hpp"

namespace fanin::cli {

/// The stage that all others are compared with.
inline constexpr std::string_view first_stage = "global-neighbored";

/// The time of a stage for one input.
struct stage_time {
  std::string device;  ///< as in "H200"
  std::string input;   ///< as in "2^24 f32"
  double microseconds, gigabytes_per_second;
  double share_of_ceiling;  ///< as a fraction
  struct gain {
    double times;           ///< how many times as fast as
    std::string builds_on;  ///< this stage
  };
  std::optional<gain> over;             ///< empty for a stage that builds on none, or on one without a time
  std::optional<double> since_first{};  ///< how many times as fast as the first stage
};

struct stage_times {
  std::vector<stage_time> all;
  std::string from;  ///< the devices, and where the times stand
};

/// What 'fanin ladder --json' measured.
class ladder_files {
 public:
  ladder_files() = default;
  /// @throws bad_data if a file cannot be read
  explicit ladder_files(const std::vector<std::string>& names);
  /// Adds the content of the file `name`. @throws bad_data if it is not a result
  void add(const std::string& name, std::istream&& content);
  bool empty() const { return files_.empty(); }
  stage_times times_of(std::string_view stage) const;

 private:
  struct row {
    std::string stage;
    stage_time time;
  };
  struct file {
    std::string from;
    std::vector<row> rows;
  };
  static file file_of(const std::string& name, const json& document);

  std::vector<file> files_;
};

}  // namespace fanin::cli
