// SPDX-License-Identifier: Apache-2.0
// The kernel of a stage from its source file, with the lines marked that the stage it builds on does not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lesson/trace.hpp"

namespace fanin::cli {

struct listed_line {
  std::string text;         ///< as one would write it for sums of floats
  std::string_view source;  ///< the line of the source file
  bool is_new = false;      ///< the stage it builds on has no such line at this place
};

struct listing {
  std::string_view file;       ///< path of the source file in the source tree
  std::string_view builds_on;  ///< empty for the first stage
  std::vector<listed_line> lines;
  std::vector<std::string> called;       ///< names of functions of other files that the lines call
  std::vector<listed_line> definitions;  ///< the definitions of these functions
};

/// The functions that the stage's file defines: those that it adds, and the kernel.
listing listing_of(std::string_view stage);

/// The index of the line that executes this part of the kernel. Empty if another kernel executes the part.
std::optional<std::size_t> line_of(const listing& kernel, kernel_part part);

}  // namespace fanin::cli
