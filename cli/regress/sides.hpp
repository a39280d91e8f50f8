// SPDX-License-Identifier: Apache-2.0
// The programs and files that `fanin regress` compares, and the arguments that make a program measure given cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/kit/child.hpp"
#include "cli/regress/read.hpp"

namespace fanin::cli {

/// The programs that can be compared: builds of fanin, programs that print the JSON of Google Benchmark or of
/// nvbench, and commands that are timed as a whole.
enum class program_kind : std::uint8_t { fanin, google_benchmark, nvbench, command };

/// A or B: a program with its first arguments, or the result that a file has.
struct side {
  std::string word;    ///< as on the command line
  std::string folder;  ///< where it runs; empty for the current folder
  std::string path;
  std::vector<std::string> arguments;
  std::optional<measured> result;
};

/// Google Benchmark if the program has the options of that library, otherwise fanin.
program_kind kind_of(const std::string& word, const std::string& folder = {});

/// The side that a word of the command line names. For builds of fanin the word is a path or a name in PATH. For
/// other programs it is a command of several words, which are split as a shell does it.
/// @throws bad_data if there is no such program or result, usage_error if a command needs a shell
side find_side(program_kind kind, const std::string& word, const std::string& folder = {});

using arguments_list = std::vector<std::string>;

/// The request to every process. The budget and the axes are for fanin.
struct process_request {
  program_kind kind = program_kind::fanin;
  double budget_seconds = 0;
  std::vector<std::pair<std::string, std::string>> axes;  ///< option of 'fanin bench' and its value
  child_limits limits;
  // The members below are for commands that are timed as a whole.
  std::vector<std::pair<std::string, std::string>> parameters;  ///< names and lists of values
  bool may_fail = false, instructions = false;
  std::string prepare;                 ///< a command of the shell before each process
  std::vector<std::string> variables;  ///< NAME=VALUE, added to the environment
};

/// The process of a side without further arguments.
child_request child_for(const process_request& asked, const side& which);

/// The arguments for a process that measures all cases.
arguments_list all_cases(const process_request& asked);

/// A process that measures some cases.
struct process_cases {
  arguments_list arguments;
  case_names cases;
};

/// The smallest processes that together measure the cases. For fanin the cases of one operation, type and length
/// share a process, because they share its input. A program that cannot be told which cases to run has one process.
std::vector<process_cases> processes_for(const process_request& asked, std::span<const std::string> cases);

/// Measures the cases once. @throws bad_data
measured run_side(const process_request& asked, const side& which, const process_cases& wanted);

}  // namespace fanin::cli
