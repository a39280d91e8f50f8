// SPDX-License-Identifier: Apache-2.0
// The kernel of a stage as the source file has it, with the lines marked that the stage it builds on does not have.
#pragma once

#include <string_view>
#include <vector>

namespace fanin::cli {

struct listed_line {
  std::string_view text;
  bool is_new;  ///< the stage it builds on has no such line at this place
};

struct listing {
  std::string_view file;       ///< path of the source file in the source tree
  std::string_view builds_on;  ///< empty for the first stage
  std::vector<listed_line> lines;
};

/// The functions that the stage's file defines: those that it adds, and the kernel.
listing listing_of(std::string_view stage);

}  // namespace fanin::cli
