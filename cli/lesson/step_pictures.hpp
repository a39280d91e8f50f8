// SPDX-License-Identifier: Apache-2.0
// A trace as pictures, one for each step.
#pragma once

#include <string>
#include <vector>

#include "cli/lesson/trace.hpp"

namespace fanin::cli {

/// The colours of warps, which lesson_style() knows. No example has more warps in one picture.
inline constexpr unsigned warp_colours = 8;

struct step_picture {
  std::string title;  ///< as in "stride 2, in shared memory"
  std::string notes;  ///< how many threads work, bank conflicts, and the barrier after the step
  std::string svg;    ///< an <svg> element, whose classes lesson_style() knows
};

std::vector<step_picture> step_pictures(const trace& all);

}  // namespace fanin::cli
