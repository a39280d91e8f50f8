// Options that several subcommands share.
#pragma once

#include <optional>
#include <string>

#include <fanin/request.hpp>

#include "cli/input/source.hpp"

namespace CLI {
class App;
}

namespace fanin::cli {

/// FILE and how to read it. `required`: FILE has to be given.
void add_input_options(CLI::App& parser, input_options& said, bool required);

/// How to reduce, as typed.
struct run_options {
  std::string backend, variant, method, result, threads;

  /// @throws usage_error, invalid_argument: a word that names nothing, with a suggestion
  options checked() const;
};
void add_method_option(CLI::App& parser, std::string& method);
void add_threads_option(CLI::App& parser, std::string& threads);
void add_run_options(CLI::App& parser, run_options& said);

/// Empty text gives nothing.
std::optional<fanin::method> parse_method(const std::string& text);
/// Empty text gives 0, which means all cores. @throws usage_error below 1
unsigned parse_threads(const std::string& text);

}  // namespace fanin::cli
