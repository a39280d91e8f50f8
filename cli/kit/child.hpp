// SPDX-License-Identifier: Apache-2.0
// Runs a program and captures its output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fanin::cli {

/// The most that a child process may take. A child process that takes more is killed.
struct child_limits {
  double seconds = 3600;
  std::size_t output_bytes = std::size_t{64} << 20;  ///< for stdout and for stderr, each
};

/// Runs `program`, which is a path and is not searched for in PATH, with an empty stdin, and returns its stdout.
/// Processes that the program leaves behind are not waited for.
/// @throws bad_data if the program cannot be started, fails, or exceeds a limit; the message names the limit, or has
/// the last line of the program's stderr
std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const child_limits& limits = {});

}  // namespace fanin::cli
