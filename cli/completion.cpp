// SPDX-License-Identifier: Apache-2.0
// fanin completion prints completion scripts for bash, zsh and fish, generated from the parser.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fanin/backend.hpp>

#include "backends/cuda/stages/ladder.hpp"
#include "cli/bench/bench.hpp"
#include "cli/commands.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/lab/lab.hpp"
#include "cli/lesson/trace.hpp"
#include "cli/report/charts.hpp"
#include "oracle/families.hpp"

namespace fanin::cli {

namespace {

enum class shell : std::uint8_t { bash, zsh, fish };
constexpr shell all_shells[] = {shell::bash, shell::zsh, shell::fish};
std::string_view to_string(shell kind) {
  constexpr std::string_view names[] = {"bash", "zsh", "fish"};
  return names[static_cast<std::size_t>(kind)];
}

/// The names of those enumerators that `holds` accepts.
template <class Enums, class Holds>
std::vector<std::string> words(const Enums& known, Holds holds) {
  std::vector<std::string> all;
  for (const auto one : known) {
    if (holds(one)) all.emplace_back(to_string(one));
  }
  return all;
}
template <class Enums>
std::vector<std::string> words(const Enums& known) {
  return words(known, [](auto) { return true; });
}

/// The words that option or operand `name` takes. Empty if it takes a file name or a number.
std::vector<std::string> values_of(const std::string& subcommand, const std::string& name) {
  const bool bench = subcommand == "bench" || subcommand == "regress";
  if (name == "--method") return words(all_methods);
  if (name == "--result") return words(all_element_types, [](element_type type) { return !is_integer(type); });
  if (name == "--type") return subcommand == "ladder" ? words(cuda::ladder_types) : words(all_element_types);
  if (name == "--operation") return bench ? words(all_operations) : words(cuda::ladder_operations);
  if (name == "--format" && subcommand == "generate") return {"npy", "raw"};
  if (name == "--format" && subcommand == "report") return {"html", "svg", "csv"};
  if (name == "--format") return {"npy", "raw", "text", "csv"};
  if (name == "--nan") return words(all_nan_policies);
  if (name == "--missing") return {"skip", "error"};
  if (name == "SHELL") return words(all_shells);
  if (name == "EXPERIMENT") return words(all_experiments);
  std::vector<std::string> all;
  if (name == "SPEC") {
    for (const oracle::family& one : oracle::families()) all.emplace_back(one.name);
  }
  if (name == "--chart") {
    for (const charts::chart_kind& one : charts::chart_kinds()) all.emplace_back(one.name);
  }
  if (name == "--explain" || name == "--trace" || name == "--stage") {
    for (const traced_stage& one : traced_stages()) all.emplace_back(one.name);
  }
  if (name == "--backend") {
    all.emplace_back("auto");
    for (const backend* one : backends()) all.emplace_back(one->name());
  }
  if (name == "--variant") {
    for (const backend* one : backends()) {
      for (const variant_info& variant : one->variants()) all.emplace_back(variant.name);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  return all;
}

struct described_argument {
  std::string name, text;
  std::vector<std::string> values;
  bool takes_value = false, positional = false;
};

std::vector<described_argument> arguments_of(const CLI::App& parser) {
  std::vector<described_argument> all;
  for (const CLI::Option* option : parser.get_options()) {
    const bool positional = option->get_lnames().empty() && option->get_snames().empty();
    const std::string name = positional ? option->get_name(true) : "--" + option->get_lnames().front();
    const bool takes_value = option->get_items_expected_max() > 0;
    all.push_back({name, option->get_description(),
                   takes_value ? values_of(parser.get_name(), name) : std::vector<std::string>(), takes_value,
                   positional});
  }
  return all;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

std::string bash_script(const CLI::App& root) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* sub : subcommands_of(root)) {
    names.push_back(sub->get_name());
    std::vector<std::string> offered;
    std::string after;
    for (const described_argument& one : arguments_of(*sub)) {
      if (one.positional) {
        offered.insert(offered.end(), one.values.begin(), one.values.end());
        continue;
      }
      offered.push_back(one.name);
      if (!one.values.empty())
        after += fmt::format("        {}) words=\"{}\" ;;\n", one.name, fmt::join(one.values, " "));
    }
    cases += fmt::format("    {})\n      case $previous in\n{}        *) words=\"{}\" ;;\n      esac ;;\n",
                         sub->get_name(), after, fmt::join(offered, " "));
  }
  return fmt::format(
      "# bash completion for fanin\n_fanin() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} "
      "previous=${{COMP_WORDS[COMP_CWORD-1]}} words=\n  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n"
      "    return\n  fi\n  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}}\ncomplete -o default -F _fanin fanin\n",
      fmt::join(names, " "), cases);
}

/// Escapes text for a description in single quotes, in zsh or fish. `also`: further characters that need a backslash.
std::string quoted(const std::string& text, std::string_view also) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'') {
      safe += "'\\''";
      continue;
    }
    if (also.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string zsh_script(const CLI::App& root) {
  std::string names, cases;
  for (const CLI::App* sub : subcommands_of(root)) {
    names += fmt::format("    '{}:{}'\n", sub->get_name(), quoted(sub->get_description(), ":"));
    cases += fmt::format("    {})\n      _arguments", sub->get_name());
    for (const described_argument& one : arguments_of(*sub)) {
      const std::string choice = one.values.empty() ? "_files" : fmt::format("({})", fmt::join(one.values, " "));
      if (one.positional) {
        cases += fmt::format(" \\\n        '*:{}:{}'", one.name, choice);
      } else {
        cases += fmt::format(" \\\n        '{}[{}]{}'", one.name, quoted(one.text, "[]:"),
                             one.takes_value ? ":value:" + choice : "");
      }
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(
      "#compdef fanin\nlocal -a subcommands=(\n{})\nif ((CURRENT == 2)); then\n  _describe subcommand subcommands\n"
      "else\n  shift words\n  ((CURRENT--))\n  case $words[1] in\n{}  esac\nfi\n",
      names, cases);
}

std::string fish_script(const CLI::App& root) {
  std::string text = "# fish completion for fanin\n";
  for (const CLI::App* sub : subcommands_of(root)) {
    text += fmt::format("complete -c fanin -f -n __fish_use_subcommand -a {} -d '{}'\n", sub->get_name(),
                        quoted(sub->get_description(), ""));
    for (const described_argument& one : arguments_of(*sub)) {
      if (one.positional && one.values.empty()) continue;
      text += fmt::format("complete -c fanin -n '__fish_seen_subcommand_from {}'", sub->get_name());
      if (!one.positional) text += fmt::format(" -l {} -d '{}'", one.name.substr(2), quoted(one.text, ""));
      if (one.takes_value && !one.positional) text += " -r";
      if (!one.values.empty()) text += fmt::format(" -f -a '{}'", fmt::join(one.values, " "));
      text += '\n';
    }
  }
  return text;
}

void print_script(const CLI::App& root, const std::string& name) {
  const std::vector<std::string> known = words(all_shells);
  const auto match = std::ranges::find(known, name);
  if (match == known.end()) {
    throw usage_error(fmt::format("unknown shell '{}'; there are {}", printable(name), fmt::join(known, ", ")));
  }
  switch (all_shells[match - known.begin()]) {
    case shell::bash:
      return write_stdout(bash_script(root));
    case shell::zsh:
      return write_stdout(zsh_script(root));
    case shell::fish:
      return write_stdout(fish_script(root));
  }
}

}  // namespace

command add_completion(CLI::App& root) {
  auto name = std::make_shared<std::string>();
  CLI::App* parser = root.add_subcommand("completion", "Print a completion script for a shell");
  parser->add_option("SHELL", *name, "bash, zsh or fish")->type_name("")->required();
  parser->footer("Example:\n  source <(fanin completion bash)");
  return {parser, [name, &root] { print_script(root, *name); }};
}

}  // namespace fanin::cli
