// SPDX-License-Identifier: Apache-2.0
// Options that name and describe an input.
#pragma once

#include "cli/input/source.hpp"

namespace CLI {
class App;
}

namespace fanin::cli {

/// Adds the options for reading a file.
void add_reading_options(CLI::App& parser, input_options& arguments);
/// Adds FILE and the options for reading it. `required`: whether FILE has to be given.
void add_input_options(CLI::App& parser, input_options& arguments, bool required);

}  // namespace fanin::cli
