// Runs the command under test as a user's shell would.
#pragma once

#include <string>
#include <string_view>

#include "cli/kit/json.hpp"

namespace fanin::cli {

struct finished {
  int status = -1;  ///< exit status, or 128 + signal
  std::string out, err;
};

/// Nothing on stdout, one line with `message` on stderr.
void check_failure(const finished& run, int status, std::string_view message);

/// What a run that succeeded printed.
json parsed(const finished& run);

/// A directory of its own for each test, removed in the end.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  /// Runs a shell command there. $fanin is the command under test; stdin is empty unless redirected.
  finished shell(const std::string& command) const;
  /// shell("$fanin ARGUMENTS")
  finished fanin(const std::string& arguments) const { return shell("$fanin " + arguments); }
  /// Writes a file there.
  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace fanin::cli
