// SPDX-License-Identifier: Apache-2.0
// Builds two revisions of a git repository.
#pragma once

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "cli/kit/temporary.hpp"

namespace fanin::cli {

/// Worktrees of the repository of the current folder, which the destructor removes. Their paths have the same length,
/// because that may change the speed of a program.
class built_revisions {
 public:
  /// Checks out A and B and runs the command of the shell in each. "." is the current state of all tracked files.
  /// With `in_all_orders` each revision is built once for every order in which the linker places functions.
  /// @throws bad_data if there is no such revision, or a build fails
  built_revisions(const std::string& a, const std::string& b, const std::string& build, bool in_all_orders);
  ~built_revisions();
  built_revisions(const built_revisions&) = delete;
  built_revisions& operator=(const built_revisions&) = delete;

  std::size_t orders() const { return orders_; }
  /// The folder of side 'a' or 'b' for one of the orders.
  std::string folder(char side, std::size_t order) const {
    return fmt::format("{}/{}{}", parent_.path(), side, order);
  }

 private:
  explicit built_revisions(bool in_all_orders);

  std::size_t orders_;
  temporary_folder parent_;
};

}  // namespace fanin::cli
