#include "cli/lesson/options.hpp"

#include <fmt/format.h>
#include <CLI/App.hpp>

#include "cli/lesson/page.hpp"
#include "cli/lesson/trace.hpp"

namespace fanin::cli {

namespace {

/// A terminal gets the trace where the page has its picture, and no comments.
std::string with_trace_for_picture(std::string_view page, const traced_stage& stage) {
  std::string text;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size() - 1) + 1;
    const std::string_view line = page.substr(0, end);
    if (line.starts_with("![")) {
      text += as_text(make_trace(stage, readable_shape(stage, 0, 0)));
    } else if (!line.starts_with("<!--")) {
      text += line;
    }
    page.remove_prefix(end);
  }
  return text;
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

void add_lesson_options(CLI::App& parser, lesson_options& said) {
  const std::vector<CLI::Option*> others = parser.get_options();
  CLI::Option* explain =
      parser.add_option("--explain", said.explain, "print the lesson about this stage")->type_name("STAGE");
  CLI::Option* trace =
      parser.add_option("--trace", said.trace, "print what this stage adds to what, worked out on the CPU")
          ->type_name("STAGE")
          ->excludes(explain);
  for (CLI::Option* other : others) {
    const std::string name = other->get_name();
    if (name == "--help") continue;
    explain->excludes(other);
    if (name != "--count" && name != "--block-size") trace->excludes(other);
  }
  parser.add_flag("--svg", said.svg, "with --trace: draw a picture")->needs(trace);
}

std::string lesson_text(const lesson_options& said, std::uint64_t count, unsigned block_size) {
  if (said.explain) {
    const traced_stage& stage = find_traced_stage(*said.explain);
    return with_trace_for_picture(page_of(stage.name), stage);
  }
  const traced_stage& stage = find_traced_stage(said.trace.value());
  const trace all = make_trace(stage, readable_shape(stage, count, block_size));
  return said.svg ? as_svg(all) : as_text(all);
}

}  // namespace fanin::cli
