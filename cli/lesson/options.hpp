// The options of `fanin ladder` that teach and run nothing on a device.
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
  std::vector<const CLI::Option*> of_runs;      ///< go with neither
  std::vector<const CLI::Option*> of_examples;  ///< go with a trace only

  bool requested() const { return explain || trace; }
};

/// After the parser's other options: of these only --count and --block-size go with a trace.
void add_lesson_options(CLI::App& parser, lesson_options& arguments);

/// `count`, `block_size` 0: the stage's own example. @throws usage_error
std::string lesson_text(const lesson_options& arguments, std::uint64_t count, unsigned block_size);

}  // namespace fanin::cli
