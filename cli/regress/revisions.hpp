// SPDX-License-Identifier: Apache-2.0
// Builds two revisions of a git repository.
#pragma once

#include <string>

#include "cli/kit/temporary.hpp"

namespace fanin::cli {

/// Two worktrees of the repository of the current folder, which the destructor removes. Their paths have the same
/// length, because that may change the speed of a program.
class built_revisions {
 public:
  /// Checks out A and B and runs the command of the shell in each. "." is the current state of all tracked files.
  /// @throws bad_data if there is no such revision, or a build fails
  built_revisions(const std::string& a, const std::string& b, const std::string& build);
  ~built_revisions();
  built_revisions(const built_revisions&) = delete;
  built_revisions& operator=(const built_revisions&) = delete;

  /// The folder of side 'a' or 'b'.
  std::string folder(char side) const { return parent_.path() + "/" + side; }

 private:
  built_revisions() = default;

  temporary_folder parent_;
};

}  // namespace fanin::cli
