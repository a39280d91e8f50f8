// SPDX-License-Identifier: Apache-2.0
// A stage's code as one would write it for sums of floats. The source files have templates for several types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fanin::cli {

/// The types of the stage's sums, which take the place of the template's.
struct plain_types {
  std::string_view element = "float", sum = "float", zero = "0.0f";
};

/// The line without the template's parameter A, its operations and the launch bounds. Nothing remains of a line that
/// only declares A or counts cycles.
std::optional<std::string> plain_line(std::string_view source, const plain_types& types);

}  // namespace fanin::cli
