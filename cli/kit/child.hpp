// Runs a program and captures its output.
#pragma once

#include <string>
#include <vector>

namespace fanin::cli {

/// Runs `program`, which is a path and is not searched for in PATH, with an empty stdin, and returns its stdout.
/// @throws bad_data if the program cannot be started, or fails; the message has the last line of its stderr
std::string output_of(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace fanin::cli
