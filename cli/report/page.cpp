// SPDX-License-Identifier: Apache-2.0
#include "cli/report/page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/kit/text.hpp"
#include "cli/report/charts.hpp"
#include "cli/report/draw.hpp"
#include "cli/report/summary.hpp"

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

/// The distinct texts, without empty ones, in the order of the sources.
std::vector<std::string> distinct(const std::vector<source>& sources, std::string origin::*part) {
  std::vector<std::string> all;
  for (const source& one : sources) {
    const std::string& text = one.from.*part;
    if (!text.empty() && std::ranges::find(all, text) == all.end()) all.push_back(text);
  }
  return all;
}

/// The facts about the results in the head of the page.
struct page_facts {
  std::string machine, origin;
};

page_facts facts_of(const std::vector<source>& sources) {
  std::vector<std::string> machines = distinct(sources, &origin::machine);
  // A machine with a device is named "PROCESSOR, DEVICE"; results of one of the two name that one alone.
  std::erase_if(machines, [names = machines](const std::string& one) {
    return std::ranges::any_of(names, [&](const std::string& other) {
      return other.ends_with(", " + one) || other.starts_with(one + ", ");
    });
  });
  std::vector<std::string> days = distinct(sources, &origin::date);
  for (std::string& one : days) one = one.substr(0, one.find('T'));
  const auto [first, last] = std::ranges::minmax_element(days);
  const std::string measured = days.empty()      ? "Date unknown"
                               : *first == *last ? "Measured " + *first
                                                 : fmt::format("Measured {} to {}", *first, *last);
  const auto listed = [&](const char* name, std::string origin::*part) {
    constexpr std::size_t most = 3;
    const std::vector<std::string> all = distinct(sources, part);
    if (all.size() > most) return fmt::format("{} {}s", all.size(), name);
    return all.empty() ? fmt::format("{} unknown", name) : fmt::format("{} {}", name, fmt::join(all, ", "));
  };
  return {machines.empty() ? "machine unknown" : fmt::format("{}", fmt::join(machines, " · ")),
          fmt::format("{} · {} · {} · {} result{}", measured, listed("commit", &origin::commit),
                      listed("fanin version", &origin::version), sources.size(), sources.size() == 1 ? "" : "s")};
}

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

std::string details_element(std::string_view look, bool open, std::string_view summary, std::string_view content) {
  return fmt::format("<details class=\"{}\"{}><summary>{}</summary>\n{}</details>\n", look, open ? " open=\"\"" : "",
                     summary, content);
}

std::string html_figure(const figure& one, bool open) {
  std::string content = "<figure>\n";
  for (const auto& [name, width] : {std::pair("wide", wide), std::pair("narrow", narrow)}) {
    content += fmt::format("<div class=\"{}\">{}</div>\n", name, inline_svg(one, width, one.id + "-" + name));
  }
  content += "</figure>\n" + details_element("table", false, "Table", html_table(one.table));
  return fmt::format("<section id=\"{}\">\n{}</section>\n", one.id,
                     details_element("one", open, "<h3>" + html_title(one.title) + "</h3>", content));
}

/// A section with the figures of one kind. The first section is open. Empty if there are no such figures.
std::string html_section(const chart_kind& kind, const std::vector<figure>& figures) {
  std::string content;
  std::size_t count = 0;
  for (const figure& one : figures) {
    if (one.kind == kind.name) content += html_figure(one, count++ == 0);
  }
  if (count == 0) return {};
  const std::string heading =
      fmt::format("<h2 id=\"{}\">{}</h2><p class=\"muted\">{}. {} chart{}.</p>", kind.name, capitalised(kind.name),
                  capitalised(kind.story), count, count == 1 ? "" : "s");
  return details_element("kind", true, heading, content);
}

std::string html_sources(const std::vector<source>& sources) {
  std::vector<table_row> rows = {{"file", "of", "machine", "commit", "date", "fanin"}};
  for (const auto& [file, kind, from] : sources) {
    rows.push_back({file, kind, from.machine, from.commit, from.date, from.version});
  }
  return details_element("kind", false,
                         "<h2 id=\"sources\">Sources</h2><p class=\"muted\">The files that were read.</p>",
                         html_table(rows));
}

std::string html_numbers(const std::vector<key_number>& numbers) {
  if (numbers.empty()) return {};
  const auto held = static_cast<std::size_t>(std::ranges::count(numbers, outcome::met, &key_number::reached));
  const std::string lead = held < numbers.size() ? fmt::format("{} of {} numbers meet the mark", held, numbers.size())
                           : held == 1           ? "The one number meets the mark"
                           : held == 2           ? "Both numbers meet the mark"
                                                 : fmt::format("All {} numbers meet the mark", held);
  std::string text = fmt::format("<p class=\"lead\">{}.</p>\n<ul class=\"numbers\">\n", lead);
  constexpr std::string_view styles[] = {"good", "bad", "doubtful"}, signs[] = {"✓", "✗", "?"};
  for (const auto& [value, name, detail, verdict, reached, section] : numbers) {
    const std::string what =
        section.empty() ? escaped(name) : fmt::format("<a href=\"#{}\">{}</a>", section, escaped(name));
    text += fmt::format(
        "<li class=\"{}\"><strong>{}</strong><span class=\"what\">{}</span><span class=\"muted\">{}</span>"
        "<em>{} {}</em></li>\n",
        styles[static_cast<std::size_t>(reached)], html_title(value), what, html_title(detail),
        signs[static_cast<std::size_t>(reached)], html_title(verdict));
  }
  return text + "</ul>\n";
}

}  // namespace

std::string html_page(const results& all, const std::vector<figure>& figures) {
  const page_facts facts = facts_of(all.sources);
  std::string links, sections;
  for (const chart_kind& kind : chart_kinds()) {
    const std::string section = html_section(kind, figures);
    if (!section.empty()) links += fmt::format("<a href=\"#{0}\">{1}</a>\n", kind.name, capitalised(kind.name));
    sections += section;
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fanin report: {0}</title>\n"
      "<style>\n{1}{2}</style>\n</head>\n<body>\n<header>\n<p class=\"muted\">fanin report</p>\n<h1>{0}</h1>\n"
      "<p class=\"muted\">{3}</p>\n{4}</header>\n<nav>\n{5}<a href=\"#sources\">Sources</a>\n</nav>\n"
      "<main>\n{6}{7}</main>\n</body>\n</html>\n",
      escaped(facts.machine), chart_style(), page_style(), escaped(facts.origin), html_numbers(key_numbers(all)),
      links, sections, html_sources(all.sources));
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
