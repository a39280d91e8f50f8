// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/revisions.hpp"

#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/kit/child.hpp"
#include "cli/kit/interrupt.hpp"

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

/// The linker's options for its orders of functions. The first one is its own order, the one of the object files.
constexpr std::string_view link_orders[] = {"", " -Wl,--sort-section=name", " -Wl,--sort-section=alignment"};

/// The variable with the caller's options and more.
std::string variable_with(const std::string& name, std::string_view more) {
  const char* const old = std::getenv(name.c_str());
  return fmt::format("{}={}{}", name, old == nullptr ? "" : old, more);
}

/// Variables that most builds hand to the compiler and the linker. Only functions in sections of their own are moved.
std::vector<std::string> variables_for(std::size_t order) {
  if (order == 0) return {};
  return {variable_with("LDFLAGS", link_orders[order]), variable_with("CFLAGS", " -ffunction-sections"),
          variable_with("CXXFLAGS", " -ffunction-sections")};
}

}  // namespace

built_revisions::built_revisions(bool in_all_orders) : orders_(in_all_orders ? std::size(link_orders) : 1) {}

built_revisions::built_revisions(const std::string& a, const std::string& b, const std::string& build,
                                 bool in_all_orders)
    : built_revisions(in_all_orders) {  // If the build fails, the destructor removes what there is.
  const interrupt_watch watch;          // A SIGINT ends the build that runs, and fanin goes on.
  for (const auto& [side, revision] : {std::pair('a', a), {'b', b}}) {
    const std::string commit = commit_of(revision);
    for (std::size_t order = 0; order < orders_; ++order) {
      run_git({"worktree", "add", "--quiet", "--detach", folder(side, order), commit});
      try {
        run_child({.program = "/bin/sh",
                   .arguments = {"-c", build},
                   .folder = folder(side, order),
                   .variables = variables_for(order)});
      } catch (const bad_data&) {
        if (watch.seen()) throw bad_data("interrupted during a build");
        throw;
      }
    }
  }
}

built_revisions::~built_revisions() {
  for (const char side : {'a', 'b'}) {
    for (std::size_t order = 0; order < orders_; ++order) {
      try {
        run_git({"worktree", "remove", "--force", folder(side, order)});
      } catch (const bad_data&) {  // There is none, because A or its build failed.
      }
    }
  }
}

}  // namespace fanin::cli
