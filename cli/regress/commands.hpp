// SPDX-License-Identifier: Apache-2.0
// The cases of `fanin regress --command`: a command for each combination of parameters.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/regress/sides.hpp"

namespace fanin::cli {

/// A combination of parameters. Its name is "command" if there are none.
struct command_case {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;
};

/// All combinations of the values of the parameters.
std::vector<command_case> command_cases(const process_request& asked);

/// The words of a command, by the rules of the shell: quotes, variables, patterns of file names. Each {NAME} of a
/// parameter is replaced first. @throws usage_error if the command is more than that
std::vector<std::string> command_words(const std::string& command, const command_case& one = {});

/// Runs a command of the shell, if there is one, with the parameters replaced. @throws bad_data if it fails
void run_shell(const std::string& command, const command_case& one, const process_request& asked);

/// Runs the command of one case and measures it. @throws bad_data
amounts measure_command(const process_request& asked, const side& which, const command_case& one);

/// Runs A and B of every case once. @throws bad_data if their outputs differ
void check_outputs(const process_request& asked, const side& a, const side& b);

}  // namespace fanin::cli
