// SPDX-License-Identifier: Apache-2.0
// Runs a program and captures its output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// The most that a child process may take. A child process that takes more is killed, with the processes that it
/// started.
struct child_limits {
  double seconds = 3600;
  std::size_t output_bytes = std::size_t{64} << 20;  ///< for stdout and for stderr, each
};

/// Runs `program`, which is a path and is not searched for in PATH, with an empty stdin, and returns its stdout.
/// Processes that the program leaves behind are not waited for. A signal that ends fanin meanwhile kills the program
/// and the processes that it started.
/// @throws bad_data if the program cannot be started, fails, or exceeds a limit; the message names the limit, or has
/// the last line of the program's stderr
std::string output_of(const std::string& program, const std::vector<std::string>& arguments,
                      const child_limits& limits = {});

/// Runs `program` like output_of(), but with its stdout in /dev/null, and returns the seconds from its start to its
/// end. @throws bad_data
double seconds_of(const std::string& program, const std::vector<std::string>& arguments, const child_limits& limits);

/// The path of a program: `name` if it is one from the current folder, otherwise what PATH has for a name without a
/// slash. Nothing if there is no such file that can be run.
std::optional<std::string> find_program(const std::string& name);

/// The text of a program for a message: its first 200 bytes, and its length if there are more.
std::string bounded_quote(std::string_view text);

}  // namespace fanin::cli
