// SPDX-License-Identifier: Apache-2.0
// The puzzles, their solutions, and the headers that check them, which are compiled into the command.
#pragma once

#include <string_view>
#include <vector>

namespace fanin::cli {

struct puzzle_text {
  std::string_view name;  ///< path in the source tree, without examples/ and include/
  std::string_view text;
};

/// Every file, the puzzles first: "puzzles/01.cu" to "puzzles/12.cu".
const std::vector<puzzle_text>& puzzle_texts();

inline constexpr int puzzle_count = 12;

}  // namespace fanin::cli
