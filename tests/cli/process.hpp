// SPDX-License-Identifier: Apache-2.0
// Runs the command under test in a shell.
#pragma once

#include <string>
#include <string_view>

#include "cli/kit/json.hpp"

namespace fanin::cli {

struct finished {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Whether `ulimit -v` may be set: a process under a sanitizer reserves terabytes of address space.
#ifdef FANIN_SANITIZED
inline constexpr bool memory_can_be_limited = false;
#else
inline constexpr bool memory_can_be_limited = true;
#endif

/// Checks the exit status, that stdout is empty, and that stderr is one line that contains `message`.
void check_failure(const finished& run, int status, std::string_view message);

/// Checks that the run succeeded, and parses its stdout.
json parsed(const finished& run);

/// A temporary directory, which the destructor removes.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  /// Runs a shell command in the directory. $fanin is the command under test; stdin is empty unless redirected.
  finished shell(const std::string& command) const;
  /// Runs shell("$fanin ARGUMENTS").
  finished fanin(const std::string& arguments) const { return shell("$fanin " + arguments); }
  /// Writes a file in the directory.
  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace fanin::cli
