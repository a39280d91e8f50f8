// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_error.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"
#include "cli/advice.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"

namespace fanin::cli {

namespace {

// The command as a user types it, such as "fanin sum".
std::string typed(const CLI::App& parser) {
  return (parser.get_parent() != nullptr ? parser.get_parent()->get_name() + " " : "") + parser.get_name();
}

std::string with_value(const CLI::Option& option) { return option.get_name() + " " + option.get_type_name(); }

// The command with all its arguments, and with the options that it cannot do without.
std::string usage(const CLI::App& parser) {
  std::string words = typed(parser);
  for (const CLI::Option* option : parser.get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name() + (option->get_items_expected_max() > 1 ? "..." : "");
      words += option->get_required() ? " " + name : " [" + name + "]";
    } else if (option->get_required()) {
      words += " " + with_value(*option);
    }
  }
  return words;
}

std::string what_is_wrong(const CLI::ParseError& error, const CLI::App& parser) {
  // CLI11's message begins with the name of the option, without dashes if the option is a flag.
  const std::string said = error.what();
  const std::string name = said.substr(0, said.find_first_of(": "));
  switch (static_cast<CLI::ExitCodes>(error.get_exit_code())) {
    case CLI::ExitCodes::RequiredError:
      return fmt::format("{} is missing: write '{}'", name, usage(parser));
    case CLI::ExitCodes::ArgumentMismatch: {
      if (!name.starts_with("-")) return fmt::format("--{} takes no value", name);
      const CLI::Option& option = *parser.get_option(name);
      const int values = option.get_items_expected_min();
      return fmt::format("{} needs {}: write '{}'", name, values == 1 ? "a value" : fmt::format("{} values", values),
                         with_value(option));
    }
    default:
      return said;
  }
}

}  // namespace

std::string sentence_about(const CLI::ParseError& error, const CLI::App& parser) {
  return fmt::format("{}; see '{} --help'", what_is_wrong(error, parser), typed(parser));
}

void refuse_unknown_words(const CLI::App& parser) {
  const std::vector<std::string> unknown = parser.remaining();
  if (unknown.empty()) return;
  std::vector<std::string> names;
  for (const CLI::Option* option : parser.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string& word = unknown.front();
  const std::string name = word.substr(0, word.find('='));
  const bool option = word.starts_with("-");
  const std::string_view advice = advice_on_option(parser.get_name(), name);
  const std::string rest = !advice.empty() ? fmt::format("; {}", advice)
                           : option        ? detail::suggestion(name, known)
                                           : "";
  throw usage_error(fmt::format("{}{} '{}'{}", parser.get_parent() != nullptr ? parser.get_name() + ": " : "",
                                option ? "unknown option" : "unexpected argument", printable(word), rest));
}

}  // namespace fanin::cli
