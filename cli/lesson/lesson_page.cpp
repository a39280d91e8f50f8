// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/lesson_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/lesson/listing.hpp"
#include "cli/lesson/step_pictures.hpp"
#include "cli/lesson/story.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/page.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli {

namespace {

std::string html_of(const stage_times& times) {
  std::string rows;
  const bool compared = std::ranges::any_of(times.all, [](const stage_time& one) { return one.over.has_value(); });
  for (const stage_time& one : times.all) {
    const double percent = 100 * one.share_of_ceiling;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{:.1f}&#160;us</td>"
        "<td class=\"number share\" style=\"--share:{:.1f}%\">{:.1f}&#160;%</td>",
        charts::escaped(one.input), one.microseconds, std::min(percent, 100.0), percent);
    if (one.over) {
      rows += fmt::format("<td><strong>{:.2f}&#160;&#215;</strong> {}</td>", one.over->times,
                          charts::escaped(one.over->builds_on));
    } else if (compared) {
      rows += "<td></td>";
    }
    rows += "</tr>\n";
  }
  if (rows.empty()) return "<p><strong>Measured.</strong> These results have no time of this stage.</p>\n";
  return fmt::format(
      "<p><strong>Measured.</strong> {}</p>\n<table>\n<tr><th scope=\"col\">input</th><th scope=\"col\" "
      "class=\"number\">time</th>"
      "<th scope=\"col\" class=\"number\">of the ceiling</th>{}</tr>\n{}</table>\n",
      charts::escaped(times.from), compared ? "<th scope=\"col\">speed</th>" : "", rows);
}

std::string html_of_counters(const markdown::block& one) {
  std::string items;
  for (const auto& [name, tells] : counters_in(one)) {
    items += fmt::format("<dt><code>{}</code></dt><dd>{}</dd>\n", charts::escaped(name), charts::escaped(tells));
  }
  return items.empty() ? "" : fmt::format("<dl>\n{}</dl>\n", items);
}

std::string html_of_listing(const listing& kernel) {
  std::string lines;
  for (const listed_line& one : kernel.lines) {
    const std::string text = charts::escaped(std::string(one.text));
    lines += one.is_new && !text.empty() ? fmt::format("<mark>{}</mark>\n", text) : text + "\n";
  }
  const bool marks = std::ranges::any_of(kernel.lines, &listed_line::is_new);
  return fmt::format("<p><strong>Kernel.</strong> <code>{}</code>{}</p>\n<pre>{}</pre>\n", kernel.file,
                     marks ? fmt::format(". Marked lines are not in {}.", kernel.builds_on) : "", lines);
}

std::string html_of_steps(const traced_stage& stage) {
  if (!stage.untraced.empty()) return {};
  std::string figures;
  for (const step_picture& one : step_pictures(make_trace(stage, readable_shape(stage, 0, 0)))) {
    figures += fmt::format("<figure><figcaption><strong>{}.</strong> {}</figcaption>\n{}</figure>\n",
                           charts::escaped(charts::capitalised(one.title)), charts::escaped(one.notes), one.svg);
  }
  return fmt::format("<div class=\"steps\">\n{}</div>\n", figures);
}

std::string html_of_stage(const traced_stage& stage, const ladder_files& files) {
  std::string title, lead, rest;
  std::string* to = &lead;
  for (const markdown::block& one : story_of(stage.name)) {
    const std::string label = label_of(one);
    if (label == "Counter.") {  // The picture stands before this paragraph in docs/ladder.md, too.
      lead += html_of_listing(listing_of(stage.name));
      to = &rest;
    }
    if (one.is == markdown::block::kind::heading) {
      title = markdown::as_html(one);
    } else if (label == "Measured.") {
      *to += html_of(files.empty() ? times_in(one.text()) : files.times_of(stage.name));
    } else {
      *to += markdown::as_html(one) + (label == "Counter." ? html_of_counters(one) : "");
    }
  }
  return fmt::format(
      "<section id=\"{}\">\n{}<div class=\"story\">\n{}</div>\n{}<div class=\"rest\">\n{}</div>\n</section>\n",
      stage.name, title, lead, html_of_steps(stage), rest);
}

constexpr std::string_view introduction = R"(<h1>The ladder, step by step</h1>
<p>How to add many numbers on a GPU: kernels that all give the right answer and differ in one idea each.</p>
<p class="muted">A picture is one step, for x[i] = i + 1. Its additions read the numbers above and write those below; a circle is a
thread with its number, and colours are warps. At the lower end are all threads, filled where they work. So that it
fits, a warp has 4 lanes and shared memory 4 banks here; on a device both are 32.</p>
)";

}  // namespace

std::string lesson_page(const ladder_files& files) {
  std::string links, sections;
  for (const traced_stage& stage : traced_stages()) {
    links += fmt::format("<a href=\"#{0}\">{0}</a>\n", stage.name);
    sections += html_of_stage(stage, files);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>The ladder, step by "
      "step</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n<header>\n{}</header>\n<nav aria-label=\"Stages\">\n"
      "{}</nav>\n<main>\n{}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
      charts::chart_style(), charts::page_style(), lesson_style(), introduction, links, sections, lesson_script());
}

}  // namespace fanin::cli
