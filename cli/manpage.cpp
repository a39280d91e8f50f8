// SPDX-License-Identifier: Apache-2.0
// fanin manpage prints the manual page, generated from the parser.
#include <fmt/format.h>

#include "cli/about.hpp"
#include "cli/commands.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"

namespace fanin::cli {

namespace {

/// Escapes text for troff: no escape sequences, no requests at the start of a line, and line breaks stay.
std::string in_roff(std::string_view text) {
  std::string safe;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '-') {
      safe += "\\-";
    } else if (c == '\\') {
      safe += "\\e";
    } else {
      safe += c;
    }
    line_start = c == '\n';
  }
  return safe;
}

/// The names and the value of an option, as in "--output, -o FILE", or the name of an operand.
std::string term_of(const CLI::Option& option) {
  std::string term;
  const auto add = [&](const std::string& name) {
    term += fmt::format("{}\\fB{}\\fR", term.empty() ? "" : ", ", in_roff(name));
  };
  for (const std::string& name : option.get_lnames()) add("--" + name);
  for (const std::string& name : option.get_snames()) add("-" + name);
  if (term.empty()) return fmt::format("\\fI{}\\fR", in_roff(option.get_name(true)));
  return option.get_items_expected_max() > 0 ? fmt::format("{} \\fI{}\\fR", term, option.get_type_name()) : term;
}

std::string options_of(const CLI::App& parser) {
  std::string text;
  for (const CLI::Option* option : parser.get_options()) {
    text += fmt::format(".TP\n{}\n{}\n", term_of(*option), in_roff(option->get_description()));
  }
  return text;
}

std::string verbatim(std::string_view text) { return fmt::format(".nf\n{}\n.fi\n", in_roff(text)); }

std::string page(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH FANIN 1\n.SH NAME\nfanin \\- {}\n.SH SYNOPSIS\n.B fanin\n.I SUBCOMMAND\n[\\fIOPTION\\fR...]\n"
      ".SH DESCRIPTION\n{}\n{}\n.SH SUBCOMMANDS\n",
      in_roff(root.get_description()), verbatim(input_formats), in_roff(channels));
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format(".SS fanin {}\n{}.\n{}", in_roff(sub->get_name()), in_roff(sub->get_description()),
                        options_of(*sub));
    text += ".PP\n" + verbatim(sub->get_footer());
  }
  text += ".SH EXIT STATUS\n";
  for (const exit_status& one : exit_statuses) text += fmt::format(".TP\n.B {}\n{}\n", one.status, one.meaning);
  text += fmt::format(".SH ENVIRONMENT\n{}\n.SH EXAMPLES\n{}", in_roff(environment), verbatim(examples));
  return text + ".SH SEE ALSO\n.BR awk (1),\n.BR od (1),\n.BR seq (1)\n";
}

}  // namespace

command add_manpage(CLI::App& root) {
  CLI::App* parser = root.add_subcommand("manpage", "Print the manual page, for man -l");
  parser->footer("Example:\n  fanin manpage | man -l -");
  return {parser, [&root] { write_stdout(page(root)); }};
}

}  // namespace fanin::cli
