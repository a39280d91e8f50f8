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

struct child_request {
  std::string program;  ///< a path, which is not searched for in PATH
  std::vector<std::string> arguments;
  child_limits limits = {};
  bool keep_output = true;                  ///< whether stdout is captured, or goes to /dev/null
  bool may_fail = false;                    ///< whether an exit status other than 0 is accepted
  std::string folder = {};                  ///< where the program runs; empty for the current folder
  std::vector<std::string> variables = {};  ///< NAME=VALUE, added to the environment
};

struct finished_child {
  std::string out;
  double seconds;      ///< from its start to its end
  double cpu_seconds;  ///< user and system time, also of the processes that the program waited for
};

/// Runs a program with an empty stdin to its end. Processes that the program leaves behind are not waited for. A
/// signal that ends fanin meanwhile kills the program and the processes that it started.
/// @throws bad_data if the program cannot be started, fails, or exceeds a limit; the message names the limit, or has
/// the last line of the program's stderr
finished_child run_child(const child_request& wanted);

/// The path of a program: `name` if it is one from the current folder, otherwise what PATH has for a name without a
/// slash. Nothing if there is no such file that can be run.
std::optional<std::string> find_program(const std::string& name);

/// The text of a program for a message: its first 200 bytes, and its length if there are more.
std::string bounded_quote(std::string_view text);

}  // namespace fanin::cli
