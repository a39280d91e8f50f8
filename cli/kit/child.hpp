// Programs that are run for their output.
#pragma once

#include <string>
#include <vector>

namespace fanin::cli {

/// What the program writes to stdout. It is not searched for in PATH; its stdin is empty; its stderr is not shown.
/// @throws bad_data: it cannot be started, or fails, with the last line that it wrote to stderr
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace fanin::cli
