// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/lesson_page.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/lesson/listing.hpp"
#include "cli/lesson/overview.hpp"
#include "cli/lesson/step_pictures.hpp"
#include "cli/lesson/story.hpp"
#include "cli/lesson/words.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/page.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli {

namespace {

/// The lines as elements of a <pre>, so that the script can mark the n-th one. What does not fit in a line goes on
/// further right than the line begins.
std::string html_of_lines(const std::vector<listed_line>& lines) {
  std::string all;
  for (const listed_line& one : lines) {
    const std::string_view tag = one.is_new && !one.text.empty() ? "mark" : "span";
    const std::size_t indent = std::min(one.text.find_first_not_of(' '), one.text.size());
    const std::string style = indent > 0 ? fmt::format(" style=\"--indent:{}\"", indent) : "";
    all += fmt::format("<{0}{1}>{2}</{0}>\n", tag, style, charts::escaped(one.text));
  }
  return fmt::format("<pre>{}</pre>\n", all);
}

/// `story` is the paragraph of docs/ladder.md, which names the file and the template's arguments.
std::string html_of_listing(const listing& kernel, const std::string& story) {
  const bool marks = std::ranges::any_of(kernel.lines, &listed_line::is_new);
  const std::string before = kernel.builds_on.empty() ? "" : title_of(kernel.builds_on);
  const std::string compared = before.empty() ? ""
                               : marks        ? fmt::format(". Marked lines are not in {}.", before)
                                              : fmt::format(". {} has the same lines.", before);
  std::string text = fmt::format(
      "<p><strong>Kernel.</strong> <code>{}</code>{}{}</p>\n<div class=\"kernel\">{}</div>\n", kernel.file,
      charts::escaped(story.substr(std::min(story.find(','), story.size()))), compared, html_of_lines(kernel.lines));
  if (!kernel.called.empty()) {
    text += fmt::format(
        "<details class=\"called\"><summary>Functions that it calls: <code>{}</code></summary>\n{}</details>\n",
        fmt::join(kernel.called, "</code>, <code>"), html_of_lines(kernel.definitions));
  }
  return text;
}

std::string html_of_steps(const traced_stage& stage, const listing& kernel) {
  const trace all = make_trace(stage, readable_shape(stage, 0, 0));
  const std::vector<step_picture> pictures = step_pictures(all);
  std::string figures;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const step_picture& one = pictures[i];
    const std::optional<std::size_t> line = line_of(kernel, all.steps[i].part);
    std::string code = line ? kernel.lines[*line].text : "";
    code.erase(0, std::min(code.find_first_not_of(' '), code.size()));
    figures += fmt::format("<figure{}><figcaption><strong>{}.</strong> {}{}</figcaption>\n{}</figure>\n",
                           line ? fmt::format(" data-line=\"{}\"", *line) : "",
                           charts::escaped(charts::capitalised(one.title)), charts::escaped(one.notes),
                           line ? fmt::format(" <code class=\"line\">{}</code>", charts::escaped(code))
                                : " This is in the second kernel.",
                           one.svg);
  }
  return fmt::format("<div class=\"steps\">\n{}</div>\n", figures);
}

std::string html_of_stage(const traced_stage& stage, const listing& kernel, const ladder_files& files) {
  std::string title, story_text, code, rest;
  std::string* to = &story_text;
  word_links links;
  const markdown::span_writer write = std::ref(links);
  std::vector<markdown::block> counters;  // The rows of the counters' table.
  bool counts = false;
  const std::vector<markdown::block> story = story_of(stage.name);
  for (const markdown::block& one : story) {
    const std::string label = label_of(one);
    if (one.is == markdown::block::kind::header) counts = one.text().starts_with(" counter");
    if (one.is_in_table()) {
      if (counts) counters.push_back(one);
      continue;
    }
    if (!counters.empty()) {
      if (files.empty()) rest += markdown::as_html(counters, write);
      counters.clear();
    }
    if (one.is == markdown::block::kind::heading) {
      title = markdown::as_html(one);
    } else if (label == "Kernel.") {  // The picture follows this paragraph in docs/ladder.md, too.
      code = html_of_listing(kernel, one.text());
      to = &rest;
    } else if (label == "Measured.") {
      rest += html_of_times(files.empty() ? times_in(story) : files.times_of(stage.name));
    } else {
      *to += markdown::as_html(one, write);
    }
  }
  return fmt::format(
      "<section class=\"stage\" id=\"{}\">\n{}<div class=\"story\">\n{}</div>\n<div class=\"code\">\n{}</div>\n{}"
      "<div class=\"rest\">\n{}</div>\n</section>\n",
      stage.name, title, story_text, code, html_of_steps(stage, kernel), rest);
}

/// A page of docs/ladder.md that is about no stage.
std::string html_of_page(std::string_view name) {
  word_links links;
  return markdown::as_html(story_of(name), std::ref(links));
}

std::string html_of_overview(const std::vector<overview_row>& stages) {
  const auto timed = std::ranges::find_if(stages, [](const overview_row& one) { return !one.times.from.empty(); });
  const std::string from = timed == stages.end() ? "" : timed->times.from;
  word_links links;
  const auto word = [&](const char* text) { return links({text_style::plain, text}); };
  return fmt::format(
      "<section id=\"overview\">\n<h1>The ladder, step by step</h1>\n"
      "<p>This lesson shows how to add many numbers on a GPU. All of its {} kernels give the right sum, and each "
      "differs from another one in one idea. Each has a page with its kernel, a picture of every step and what it "
      "gains. Begin with <a href=\"#cuda\">CUDA in a minute</a>. <a href=\"#words\">Words</a> are explained where "
      "they "
      "occur: click a word with dots under it.</p>\n"
      "<p>You can also learn by writing. These commands write 12 kernels that are not right yet, and check the first "
      "one. Repair the kernel in your editor, and check it again. No GPU is needed. A puzzle names the rung that it "
      "belongs to.</p>\n"
      "<pre>fanin lesson --puzzles puzzles\nfanin check puzzles/01.cu</pre>\n"
      "<h2>The map</h2>\n<p>Two branches begin at 01. The first one stays in {}. At 06 the other one starts again "
      "from "
      "01, in {}, and goes on to {} and to the whole device.</p>\n{}"
      "<h2>What each kernel gains</h2>\n<p>A gain of 2 means half the time. The {} is the speed of the fastest "
      "kernel that only reads the elements. 2^28 f32 are 268 million floats, i32 are integers of 32 bits, and us are "
      "microseconds. Measured: {}</p>\n{}{}</section>\n",
      stages.size(), word("global memory"), word("shared memory"), word("registers"), html_of_map(stages),
      word("ceiling"), charts::escaped(from), html_of_charts(stages), html_of_gains(stages));
}

}  // namespace

std::string lesson_page(const ladder_files& files) {
  std::string links = "<a href=\"#overview\">Overview</a>\n<a href=\"#cuda\">CUDA in a minute</a>\n", sections;
  std::vector<overview_row> stages;
  for (const traced_stage& stage : traced_stages()) {
    const listing kernel = listing_of(stage.name);
    stages.push_back({stage.name, kernel.builds_on, title_of(stage.name),
                      files.empty() ? times_in(story_of(stage.name)) : files.times_of(stage.name)});
    links += fmt::format("<a href=\"#{}\">{}</a>\n", stage.name, stages.back().title);
    sections += html_of_stage(stage, kernel, files);
  }
  links += "<a href=\"#words\">Words</a>\n";
  const std::string before =
      html_of_overview(stages) + fmt::format("<section id=\"cuda\">\n{}{}{}</section>\n", html_of_page("minute"),
                                             html_of_page("kernels"), html_of_page("pictures"));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>The ladder, step by "
      "step</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n<nav aria-label=\"Pages\">\n{}</nav>\n<main>\n{}{}"
      "<section id=\"words\">\n<h2>Words</h2>\n{}</section>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n",
      charts::chart_style(), charts::page_style(), lesson_style(), links, before, sections, html_of_words(),
      lesson_script());
}

}  // namespace fanin::cli
