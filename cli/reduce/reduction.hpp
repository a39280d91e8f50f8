// SPDX-License-Identifier: Apache-2.0
// A finished reduction, and how it is shown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fanin/fanin.hpp>

#include "cli/commands.hpp"
#include "cli/kit/json.hpp"

namespace fanin::cli {

struct finished_reduction {
  operation what = operation::sum;
  std::string input;  ///< names of the inputs
  std::uint64_t count = 0;
  double seconds = 0;
  result<scalar> reached;
};

using sources = std::vector<std::unique_ptr<source>>;

/// What is printed: of a result with an index the index alone.
std::string line_of(const finished_reduction& done);
json to_json(const finished_reduction& done, element_type type);
/// Says on stderr who ran, who was passed over and why, and the error bound.
void explain(const finished_reduction& done, const sources& inputs);

/// Standard input, for a command line without FILE. @throws usage_error if standard input is no pipe and no file,
/// such as a terminal
std::string implied_input(std::string_view subcommand);

/// The command's own default: the method exact for every operation that has it. The library's is fast.
std::optional<method> default_method_of_command(operation what, const options& chosen);

/// fanin reduce.
command add_joint_reduction(CLI::App& root);

}  // namespace fanin::cli
