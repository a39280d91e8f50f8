// fanin manpage: the manual page, written from the parser itself.
#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace fanin::cli {

namespace {

/// Text for troff: no escapes, no requests at the start of a line, and every line kept as it is.
std::string escaped(const std::string& text) {
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

std::string options_of(const CLI::App& parser) {
  std::string text;
  for (const CLI::Option* option : parser.get_options()) {
    text +=
        fmt::format(".TP\n.B {}\n{}\n", escaped(option->get_name(true, true)), escaped(option->get_description()));
  }
  return text;
}

std::string page(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH FANIN 1\n.SH NAME\nfanin \\- {}\n.SH SYNOPSIS\n.B fanin\n.I SUBCOMMAND\n[\\fIOPTION\\fR...]\n"
      ".SH DESCRIPTION\n.nf\n{}\n.fi\n.SH SUBCOMMANDS\n",
      escaped(root.get_description()), escaped(root.get_footer()));
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format(".SS fanin {}\n{}.\n{}", escaped(sub->get_name()), escaped(sub->get_description()),
                        options_of(*sub));
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(sub->get_footer()));
  }
  return text;
}

}  // namespace

command add_manpage(CLI::App& root) {
  CLI::App* parser = root.add_subcommand("manpage", "Print the manual page, for man -l");
  parser->footer("Example:\n  fanin manpage | man -l -");
  return {parser, [&root] { write_stdout(page(root)); }};
}

}  // namespace fanin::cli
