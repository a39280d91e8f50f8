// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/story.hpp"

#include <fmt/format.h>

#include "cli/kit/table.hpp"
#include "cli/lesson/page.hpp"

namespace fanin::cli {

namespace {

std::string text_of(const stage_times& times) {
  std::vector<table_row> rows;
  for (const stage_time& one : times.all) {
    rows.push_back({"   " + one.input, fmt::format("{:.1f} us", one.microseconds),
                    fmt::format("{:.1f} % of the ceiling", 100 * one.share_of_ceiling)});
    if (one.over) rows.back().push_back(fmt::format("{:.2f} x {}", one.over->times, one.over->builds_on));
  }
  return align(rows, 1);
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

std::string label_of(const markdown::block& one) {
  return one.spans.front().style == text_style::bold ? one.spans.front().text : "";
}

std::vector<std::pair<std::string, std::string>> counters_in(const markdown::block& one) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const markdown::span& part : one.spans) {
    // The table of counters has rows "| `name` | what it tells |".
    const std::string begin = fmt::format("\n| `{}` | ", part.text);
    const std::size_t at = lesson.find(begin);
    if (part.style != text_style::code || at == lesson.npos) continue;
    const std::size_t tells = at + begin.size();
    found.emplace_back(part.text, lesson.substr(tells, lesson.find(" |\n", tells) - tells));
  }
  return found;
}

std::vector<markdown::block> story_of(std::string_view stage) { return markdown::parse(page_of(stage)); }

std::string story_text(std::string_view stage, const terminal& screen) {
  std::string text;
  for (const markdown::block& one : story_of(stage)) {
    const bool measured = label_of(one) == "Measured.";
    const stage_times times = measured ? times_in(one.text()) : stage_times();
    markdown::block shown = one;
    if (measured) shown.spans = {one.spans.front(), {text_style::plain, " " + times.from}};
    if (!text.empty() && one.is != markdown::block::kind::item) text += '\n';
    text += markdown::as_text(shown, screen) + text_of(times);
  }
  return text;
}

}  // namespace fanin::cli
