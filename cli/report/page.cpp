// SPDX-License-Identifier: Apache-2.0
#include "cli/report/page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/kit/text.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/draw.hpp"

namespace fanin::cli::charts {

namespace {

// A page contains two drawings of each figure, and its width decides which one is shown. A single drawing, scaled
// down, would have text too small to read on a phone.
constexpr double wide = 832, narrow = 358;

/// The title as HTML, with no line break between a number and its unit.
std::string html_title(const std::string& title) {
  std::string text = escaped(title);
  for (const auto& [apart, together] :
       {std::pair(" %", "&#160;%"), {" GB/s", "&#160;GB/s"}, {"n = ", "n&#160;=&#160;"}}) {
    for (std::size_t at = 0; (at = text.find(apart, at)) != text.npos;) {
      text.replace(at, std::string_view(apart).size(), together);
    }
  }
  return text;
}

bool is_number(const std::string& cell) { return cell.find_first_not_of("0123456789.e+-") == std::string::npos; }

std::string html_table(const std::vector<table_row>& rows) {
  std::vector<std::string_view> looks;  // The class attribute of each column.
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    const bool numbers =
        std::all_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return is_number(row[i]); });
    looks.push_back(numbers ? " class=\"number\"" : "");
  }
  std::string text = "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n";
  for (const table_row& row : rows) {
    const std::string_view tag = &row == &rows.front() ? "th" : "td";
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("<{0}{1}>{2}</{0}>", tag, looks[i], escaped(row[i]));
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string html_figure(const figure& one) {
  std::string drawings;
  for (const auto& [name, width] : {std::pair("wide", wide), std::pair("narrow", narrow)}) {
    drawings += fmt::format("<div class=\"{}\">{}</div>\n", name, inline_svg(one, width, one.id + "-" + name));
  }
  return fmt::format(
      "<section id=\"{}\">\n<h3>{}</h3>\n<figure>\n{}</figure>\n<details><summary>Table</summary>\n{}</details>\n"
      "</section>\n",
      one.id, html_title(one.title), drawings, html_table(one.table));
}

std::string html_sources(const std::vector<source>& sources) {
  std::vector<table_row> rows = {{"file", "of", "machine", "commit", "date"}};
  for (const auto& [file, kind, from] : sources) rows.push_back({file, kind, from.machine, from.commit, from.date});
  return html_table(rows);
}

}  // namespace

std::string html_page(const std::vector<figure>& figures, const std::vector<source>& sources) {
  std::string links, sections;
  for (const chart_kind& kind : chart_kinds()) {
    if (std::ranges::find(figures, kind.name, &figure::kind) == figures.end()) continue;
    links += fmt::format("<a href=\"#{0}\">{1}</a>\n", kind.name, capitalised(kind.name));
    sections += fmt::format("<h2 id=\"{}\">{}</h2>\n<p class=\"muted\">{}.</p>\n", kind.name, capitalised(kind.name),
                            capitalised(kind.story));
    for (const figure& one : figures) {
      if (one.kind == kind.name) sections += html_figure(one);
    }
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fanin report</title>\n"
      "<style>\n{}{}</style>\n</head>\n<body>\n<h1>fanin report</h1>\n<nav>\n{}<a "
      "href=\"#sources\">Sources</a>\n</nav>\n"
      "<main>\n{}<h2 id=\"sources\">Sources</h2>\n{}</main>\n</body>\n</html>\n",
      chart_style(), page_style(), links, sections, html_sources(sources));
}

std::string csv(const figure& one) {
  std::string text;
  for (const table_row& row : one.table) {
    std::string line;
    for (const std::string& cell : row) {
      std::string quoted;
      const std::string shown = one_line(cell);
      for (const char c : shown) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
      const bool plain = shown.find_first_of(",\"") == std::string::npos;
      line += (&cell == &row.front() ? "" : ",") + (plain ? shown : "\"" + quoted + "\"");
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace fanin::cli::charts
