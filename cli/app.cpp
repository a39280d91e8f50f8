// SPDX-License-Identifier: Apache-2.0
// Parses the command line, runs the subcommand, and turns an error into a line on stderr and an exit status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include <fanin/error.hpp>
#include <fanin/version.hpp>

#include "base/words.hpp"
#include "cli/about.hpp"
#include "cli/commands.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/parse_error.hpp"
#include "cli/run.hpp"

namespace fanin::cli {

namespace {

std::string environment_and_examples() {
  std::string statuses;
  for (const exit_status& one : exit_statuses) statuses += fmt::format("  {}  {}\n", one.status, one.meaning);
  return fmt::format("{}\n{} {}\n\nExit status:\n{}\nExamples:\n{}", input_formats, channels, environment, statuses,
                     examples);
}

// The next file opened would get a closed descriptor 0, 1 or 2. Such a descriptor is opened on /dev/null in the wrong
// direction instead, so that using it fails.
void hold_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

std::vector<std::string_view> subcommand_names(const std::vector<command>& commands) {
  std::vector<std::string_view> names;
  for (const command& one : commands) names.push_back(one.parser->get_name());
  return names;
}

void refuse_two_subcommands(const CLI::App& root) {
  const auto parsed = root.get_subcommands();
  if (parsed.size() < 2) return;
  throw usage_error(
      fmt::format("only one subcommand can be given, not {0} and {1}; 'fanin reduce sum,mean FILE' computes several "
                  "results, and './{1}' is the file of that name",
                  parsed[0]->get_name(), parsed[1]->get_name()));
}

// The words of the command line. If they begin with help, the option --help at their end stands for it; help about
// help is help.
std::vector<const char*> without_help_word(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(words[1]) == "help") {
    while (words.size() > 1 && std::string_view(words[1]) == "help") words.erase(words.begin() + 1);
    words.push_back("--help");
  }
  return words;
}

void parse(CLI::App& root, const std::vector<command>& commands, const std::vector<const char*>& words) {
  if (words.size() < 2) throw usage_error("a subcommand is needed; see 'fanin --help'");
  const std::string_view first = words[1];
  const std::vector<std::string_view> names = subcommand_names(commands);
  if (std::ranges::find(names, first) == names.end() && !first.starts_with("-")) {
    const bool is_file = ::access(words[1], F_OK) == 0;
    throw usage_error(fmt::format("unknown subcommand '{}'{}", printable(first),
                                  is_file ? "; a subcommand comes before the file, as in 'fanin describe FILE'"
                                          : detail::suggestion(first, names)));
  }
  try {
    root.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) throw;
    refuse_two_subcommands(root);
    const auto parsed = root.get_subcommands();
    throw usage_error(sentence_about(error, parsed.empty() ? root : *parsed.front()));
  }
  refuse_two_subcommands(root);
  refuse_unknown_words(root);
  for (const command& one : commands) refuse_unknown_words(*one.parser);
  if (root.get_subcommands().empty()) throw usage_error("a subcommand is needed; see 'fanin --help'");
}

std::vector<command> add_commands(CLI::App& root) {
  std::vector<command> commands = add_reductions(root);
  for (const auto add : {add_describe, add_count, add_median, add_quantile, add_compare, add_accuracy, add_ladder,
                         add_lesson, add_check, add_lab, add_bench, add_regress, add_report, add_generate, add_merge,
                         add_backends, add_device, add_completion, add_manpage}) {
    commands.push_back(add(root));
  }
  const auto refuse_empty = [](const std::string& value) {
    return std::string(value.empty() ? "the value is empty" : "");
  };
  for (const command& one : commands) {
    one.parser->allow_extras();
    for (CLI::Option* option : one.parser->get_options()) {
      if (option->get_items_expected_max() > 0) {
        option->check(refuse_empty);
      } else {
        option->disable_flag_override();
      }
    }
  }
  return commands;
}

void run_or_throw(int argc, char** argv) {
  CLI::App root("sums, means, norms and extremes of many numbers, exact unless another method is asked for", "fanin");
  root.set_version_flag("--version", "fanin " FANIN_VERSION, "print the version");
  root.footer(environment_and_examples());
  root.allow_extras();
  const std::vector<command> commands = add_commands(root);
  try {
    parse(root, commands, without_help_word(argc, argv));
  } catch (const CLI::CallForVersion& version) {
    return write_stdout(std::string(version.what()) + "\n");
  } catch (const CLI::CallForHelp&) {
    return write_stdout(root.help());
  }
  for (const command& one : commands) {
    if (one.parser->parsed()) return one.run();
  }
}

}  // namespace

int run(int argc, char** argv) {
  hold_standard_descriptors();
  const auto end = [](std::string_view line, int status) {
    write_stderr(line);
    return status;
  };
  try {
    run_or_throw(argc, argv);
    return 0;
  } catch (const usage_error& error) {
    return end(error.what(), bad_usage);
  } catch (const invalid_argument& error) {
    return end(error.what(), bad_usage);
  } catch (const unsupported& error) {
    return end(error.what(), bad_usage);
  } catch (const backend_unavailable& error) {
    return end(error.what(), backend_not_usable);
  } catch (const regression& error) {
    return end(error.what(), regressed);
  } catch (const undecided_cases& error) {
    return end(error.what(), undecided);
  } catch (const std::bad_alloc&) {
    return end("out of memory", failed);
  } catch (const std::length_error&) {
    return end("out of memory", failed);
  } catch (const std::exception& error) {
    return end(error.what(), failed);
  }
}

}  // namespace fanin::cli
