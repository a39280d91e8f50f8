// SPDX-License-Identifier: Apache-2.0
// fanin lesson writes the ladder as a page to step through.
#include <memory>
#include <span>

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/commands.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/text.hpp"
#include "cli/lesson/lesson_page.hpp"

namespace fanin::cli {

namespace {

struct page_options {
  std::string output;
  std::vector<std::string> files;
  bool force = false;  ///< replace the file `output`
};

void run_lesson(const page_options& arguments) {
  if (arguments.output.ends_with(".json")) {
    throw usage_error(
        fmt::format("'{}' looks like a result; the file to write comes first", printable(arguments.output)));
  }
  const std::string text = lesson_page(ladder_files(arguments.files));
  output_file file(arguments.output, arguments.force);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace

command add_lesson(CLI::App& root) {
  auto arguments = std::make_shared<page_options>();
  CLI::App* parser = root.add_subcommand(
      "lesson", "Write the ladder as an HTML page to step through: which thread adds what, and why");
  parser->add_option("OUT", arguments->output, "the HTML file to write; - is standard output")
      ->type_name("")
      ->required();
  parser
      ->add_option("RESULT", arguments->files,
                   "what 'fanin ladder --json' printed (default: the results in docs/ladder.md)")
      ->type_name("");
  parser->add_flag("--force", arguments->force, "replace OUT if it exists");
  parser->footer(
      R"(For every stage the page has a picture of each step, an explanation, the profiler's counter that shows the effect, and
the speed that the stage gained. The pictures are made from the index arithmetic of the kernels. Buttons and the arrow
keys go from step to step. Without a script all pictures stand in a row. The page needs no network, and making it
needs no GPU.

Examples:
  fanin lesson lesson.html
  fanin ladder --json > ladder.json
  fanin lesson lesson.html ladder.json)");
  return {parser, [arguments] { run_lesson(*arguments); }};
}

}  // namespace fanin::cli
