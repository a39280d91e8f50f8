// SPDX-License-Identifier: Apache-2.0
// The options --explain, --trace and --svg of `fanin ladder`, which run nothing on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fanin::cli {

struct lesson_options {
  std::optional<std::string> explain, trace;  ///< names of stages
  bool svg = false;
  std::vector<const CLI::Option*> of_runs;      ///< options that cannot be used with --explain or --trace
  std::vector<const CLI::Option*> of_examples;  ///< options that cannot be used with --explain

  bool requested() const { return explain || trace; }
};

/// Adds the options. All other options of the parser have to be added before. Only --count and --block-size of
/// these other options can be used with --trace.
void add_lesson_options(CLI::App& parser, lesson_options& arguments);

/// The output of --explain or --trace. If `count` or `block_size` is 0, the number of the stage's example is
/// taken.
/// @throws usage_error
std::string lesson_text(const lesson_options& arguments, std::uint64_t count, unsigned block_size);

}  // namespace fanin::cli
