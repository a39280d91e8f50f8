// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/revisions.hpp"

#include <optional>
#include <vector>

#include "cli/kit/child.hpp"

namespace fanin::cli {

namespace {

std::string run_git(const std::vector<std::string>& arguments) {
  const std::optional<std::string> git = find_program("git");
  if (!git) throw bad_data("--build needs git");
  std::string out = run_child({.program = *git, .arguments = arguments}).out;
  out.erase(out.find_last_not_of('\n') + 1);
  return out;
}

/// The commit of a revision. "." is a commit of the current state of all tracked files, which no branch has.
std::string commit_of(const std::string& revision) {
  const std::string changed = revision == "." ? run_git({"stash", "create"}) : "";
  if (!changed.empty()) return changed;
  return run_git(
      {"rev-parse", "--verify", "--quiet", "--end-of-options", (revision == "." ? "HEAD" : revision) + "^{commit}"});
}

}  // namespace

built_revisions::built_revisions(const std::string& a, const std::string& b, const std::string& build)
    : built_revisions() {  // If the build fails, the destructor removes what there is.
  const auto check_out = [&](char side, const std::string& revision) {
    run_git({"worktree", "add", "--quiet", "--detach", folder(side), commit_of(revision)});
    run_child({.program = "/bin/sh", .arguments = {"-c", build}, .folder = folder(side)});
  };
  check_out('a', a);
  check_out('b', b);
}

built_revisions::~built_revisions() {
  for (const char side : {'a', 'b'}) {
    try {
      run_git({"worktree", "remove", "--force", folder(side)});
    } catch (const bad_data&) {  // There is none, because A or its build failed.
    }
  }
}

}  // namespace fanin::cli
