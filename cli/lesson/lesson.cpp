// SPDX-License-Identifier: Apache-2.0
// fanin lesson writes the ladder as a page to step through.
#include <filesystem>
#include <memory>
#include <span>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/kit/errors.hpp"
#include "cli/kit/output.hpp"
#include "cli/kit/parser.hpp"
#include "cli/kit/text.hpp"
#include "cli/lesson/lesson_page.hpp"
#include "cli/puzzles/texts.hpp"

namespace fanin::cli {

namespace {

struct page_options {
  std::string output, puzzles;
  std::vector<std::string> files;
  bool force = false;  ///< replace files
};

void write_file(const std::string& path, std::string_view text, bool force) {
  output_file file(path, force);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

void write_puzzles(const page_options& arguments) {
  const std::filesystem::path folder = arguments.puzzles;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw bad_data(fmt::format("{}: {}", printable(arguments.puzzles), problem.message()));
  for (const source_text& one : std::span(puzzle_texts()).first(puzzle_count)) {
    write_file((folder / std::filesystem::path(one.name).filename()).string(), one.text, arguments.force);
  }
}

void run_lesson(const page_options& arguments) {
  if (!arguments.puzzles.empty()) return write_puzzles(arguments);
  if (arguments.output.empty()) throw usage_error("name the HTML file to write, or say --puzzles");
  if (arguments.output.ends_with(".json")) {
    throw usage_error(
        fmt::format("'{}' looks like a result; the file to write comes first", printable(arguments.output)));
  }
  write_file(arguments.output, lesson_page(ladder_files(arguments.files)), arguments.force);
}

}  // namespace

command add_lesson(CLI::App& root) {
  auto arguments = std::make_shared<page_options>();
  CLI::App* parser = root.add_subcommand(
      "lesson", "Write the ladder as an HTML page to step through: which thread adds what, and why");
  CLI::Option* out = parser->add_option("OUT", arguments->output, "the HTML file to write; - is standard output");
  out->type_name("");
  parser
      ->add_option("RESULT", arguments->files,
                   "what 'fanin ladder --json' printed (default: the results in docs/ladder.md)")
      ->type_name("");
  parser->add_flag("--force", arguments->force, "replace files that exist");
  parser
      ->add_option("--puzzles", arguments->puzzles, "write 12 puzzles to this folder, and no page; see 'fanin check'")
      ->type_name("DIR")
      ->excludes(out);
  parser->footer(
      R"(The page is for readers who know C++ and no CUDA. For every stage it has the problem and the idea, the kernel, a
picture of each step, what to expect, times and counters, and questions with answers. The pictures are made from the
index arithmetic of the stages. Buttons and the arrow keys go from step to step. Without JavaScript all pictures are
shown one after the other. The page needs no network, and no GPU is needed to make it.

Examples:
  fanin lesson lesson.html
  fanin ladder --json > ladder.json
  fanin lesson lesson.html ladder.json
  fanin lesson --puzzles puzzles)");
  return {parser, [arguments] { run_lesson(*arguments); }};
}

}  // namespace fanin::cli
