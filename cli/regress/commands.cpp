// SPDX-License-Identifier: Apache-2.0
#include "cli/regress/commands.hpp"

#include <wordexp.h>

#include <algorithm>

#include <fmt/format.h>

#include "cli/kit/errors.hpp"
#include "cli/kit/text.hpp"
#include "cli/regress/instructions.hpp"

namespace fanin::cli {

namespace {

std::string with_values(std::string text, const command_case& one) {
  for (const auto& [name, value] : one.values) {
    const std::string place = "{" + name + "}";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + value.size())) {
      text.replace(at, place.size(), value);
    }
  }
  return text;
}

child_request child_of(const process_request& asked, const side& which, const command_case& one) {
  child_request child = child_for(asked, find_side(asked.kind, with_values(which.word, one), which.folder));
  child.may_fail = asked.may_fail;
  return child;
}

/// The first line in which the outputs differ, for a message.
std::string first_difference(const std::string& a, const std::string& b) {
  const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
  const auto line = std::count(a.begin(), a.begin() + at, '\n') + 1;
  const auto line_of = [&](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', static_cast<std::size_t>(at) - 1) + 1;
    return bounded_quote(std::string_view(text).substr(begin, text.find('\n', begin) - begin));
  };
  return fmt::format("line {} is '{}' of A and '{}' of B", line, printable(line_of(a)), printable(line_of(b)));
}

}  // namespace

std::vector<command_case> command_cases(const process_request& asked) {
  if (asked.parameters.empty()) return {{"command", {}}};
  std::vector<command_case> all = {{}};
  for (const auto& [name, values] : asked.parameters) {
    std::vector<command_case> more;
    for (const command_case& one : all) {
      for (const std::string& value : split(values, ',')) {
        more.push_back(one);
        more.back().name += fmt::format("{}{}={}", one.name.empty() ? "" : " ", name, value);
        more.back().values.emplace_back(name, value);
      }
    }
    all = std::move(more);
  }
  return all;
}

std::vector<std::string> command_words(const std::string& command, const command_case& one) {
  wordexp_t found = {};
  const int problem = ::wordexp(with_values(command, one).c_str(), &found, WRDE_NOCMD | WRDE_UNDEF);
  if (problem == 0) {
    std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
    ::wordfree(&found);
    if (!words.empty()) return words;
  }
  const std::string shown = printable(command);
  switch (problem) {
    case WRDE_BADCHAR:
    case WRDE_CMDSUB:
      throw usage_error(fmt::format("'{}' needs a shell: write it into a script, or as sh -c '...'", shown));
    case WRDE_BADVAL:
      throw usage_error(fmt::format("'{}' has a variable that is not set", shown));
    case WRDE_SYNTAX:
      throw usage_error(fmt::format("'{}' has a quote that is not closed", shown));
    default:
      throw usage_error(fmt::format("'{}' is not a command", shown));
  }
}

void run_shell(const std::string& command, const command_case& one, const process_request& asked) {
  if (!command.empty()) {
    run_child({.program = "/bin/sh", .arguments = {"-c", with_values(command, one)}, .limits = asked.limits});
  }
}

amounts measure_command(const process_request& asked, const side& which, const command_case& one) {
  child_request child = child_of(asked, which, one);
  child.keep_output = false;
  run_shell(asked.prepare, one, asked);
  const finished_child done = run_child(child);
  amounts found = {{quantity::wall_time, done.seconds}};
  if (done.cpu_seconds > 0) found[quantity::cpu_time] = done.cpu_seconds;
  if (asked.instructions) {
    run_shell(asked.prepare, one, asked);
    found[quantity::instructions] = instructions_of(child);
  }
  return found;
}

void check_outputs(const process_request& asked, const side& a, const side& b) {
  for (const command_case& one : command_cases(asked)) {
    run_shell(asked.prepare, one, asked);
    const std::string from_a = run_child(child_of(asked, a, one)).out;
    run_shell(asked.prepare, one, asked);
    const std::string from_b = run_child(child_of(asked, b, one)).out;
    if (from_a == from_b) continue;
    throw bad_data(fmt::format("{}: the outputs differ: {}", one.name, first_difference(from_a, from_b)));
  }
}

}  // namespace fanin::cli
