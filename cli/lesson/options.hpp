// The options of `fanin ladder` that teach and run nothing on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace fanin::cli {

struct lesson_options {
  std::optional<std::string> explain, trace;  ///< names of stages
  bool svg = false;

  bool asked() const { return explain || trace; }
};

/// Of the options that the parser has already, these go with --count and --block-size only, and only for a trace.
void add_lesson_options(CLI::App& parser, lesson_options& said);

/// `count`, `block_size` 0: the stage's own example. @throws usage_error
std::string lesson_text(const lesson_options& said, std::uint64_t count, unsigned block_size);

}  // namespace fanin::cli
