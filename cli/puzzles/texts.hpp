// SPDX-License-Identifier: Apache-2.0
// Source files that are compiled into the command.
#pragma once

#include <string_view>
#include <vector>

namespace fanin::cli {

struct source_text {
  std::string_view name;  ///< path in the source tree, without examples/ and include/
  std::string_view text;
};

/// The puzzles, "puzzles/01.cu" to "puzzles/12.cu", then their solutions and the headers that check them.
const std::vector<source_text>& puzzle_texts();

/// The files of the ladder's stages.
const std::vector<source_text>& stage_texts();

inline constexpr int puzzle_count = 12;

}  // namespace fanin::cli
