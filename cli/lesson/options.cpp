// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/options.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/kit/errors.hpp"
#include "cli/lesson/page.hpp"
#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

/// The page without images and comments, which a terminal cannot show.
std::string without_markup(std::string_view page) {
  std::string text;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size() - 1) + 1;
    const std::string_view line = page.substr(0, end);
    const bool second_blank = line == "\n" && text.ends_with("\n\n");
    if (!line.starts_with("![") && !line.starts_with("<!--") && !second_blank) text += line;
    page.remove_prefix(end);
  }
  return text;
}

void refuse(const std::vector<const CLI::Option*>& options, std::string_view with) {
  for (const CLI::Option* one : options) {
    if (one->count() > 0) throw usage_error(fmt::format("{} does not go with {}", one->get_name(), with));
  }
}

}  // namespace

std::string_view page_of(std::string_view stage) {
  const std::string end_of_heading = fmt::format(" {}", stage);
  for (std::size_t at = lesson.find("\n## "); at != lesson.npos;) {
    const std::size_t next = lesson.find("\n## ", at + 1);
    const std::string_view page = lesson.substr(at + 1, next == lesson.npos ? next : next - at);
    const std::string_view title = page.substr(0, page.find('\n'));
    if (title.ends_with(end_of_heading)) return page;
    at = next;
  }
  return {};
}

void add_lesson_options(CLI::App& parser, lesson_options& arguments) {
  for (const CLI::Option* other : parser.get_options()) {
    const std::string name = other->get_name();
    (name == "--count" || name == "--block-size" ? arguments.of_examples : arguments.of_runs).push_back(other);
  }
  CLI::Option* explain =
      parser.add_option("--explain", arguments.explain, "print the lesson about this stage")->type_name("STAGE");
  CLI::Option* trace =
      parser.add_option("--trace", arguments.trace, "print what this stage adds to what, worked out on the CPU")
          ->type_name("STAGE")
          ->excludes(explain);
  parser.add_flag("--svg", arguments.svg, "with --trace: draw a picture")->needs(trace);
}

std::string lesson_text(const lesson_options& arguments, std::uint64_t count, unsigned block_size) {
  refuse(arguments.of_runs, arguments.explain ? "--explain" : "--trace");
  if (arguments.explain) {
    refuse(arguments.of_examples, "--explain");
    const traced_stage& stage = find_traced_stage(*arguments.explain);
    const std::string page = without_markup(page_of(stage.name));
    return stage.untraced.empty() ? page + as_text(make_trace(stage, readable_shape(stage, 0, 0))) : page;
  }
  const traced_stage& stage = find_traced_stage(arguments.trace.value());
  const trace all = make_trace(stage, readable_shape(stage, count, block_size));
  return arguments.svg ? as_svg(all) : as_text(all);
}

}  // namespace fanin::cli
