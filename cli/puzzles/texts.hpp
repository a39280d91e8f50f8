// SPDX-License-Identifier: Apache-2.0
// Source files and an object file that the command contains.
#pragma once

#include <string_view>
#include <vector>

namespace fanin::cli {

struct source_text {
  std::string_view name;  ///< path in the source tree, without examples/ and include/
  std::string_view text;
};

/// The puzzles, "puzzles/01.cu" to "puzzles/12.cu", then their solutions and the headers that are compiled with a
/// kernel.
const std::vector<source_text>& puzzle_texts();

/// The object file of checker.cpp.
std::string_view checker_object();

/// The files of the ladder's stages.
const std::vector<source_text>& stage_texts();

inline constexpr int puzzle_count = 12;

}  // namespace fanin::cli
