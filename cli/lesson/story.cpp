// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/story.hpp"

#include <fmt/format.h>

#include "cli/kit/table.hpp"
#include "cli/lesson/page.hpp"

namespace fanin::cli {

namespace {

/// A row for a terminal, which has no room for the name of the stage that a gain is over.
table_row row_of(const markdown::block& one) {
  table_row row;
  for (const std::vector<markdown::span>& cell : one.cells()) {
    const std::string text = cell.empty() ? "" : cell.front().text;
    row.push_back(text.starts_with("gain over ") ? "gain" : text);
  }
  row.front() = "   " + row.front();
  return row;
}

/// The number at the beginning of the cell; nothing if the cell is empty.
std::optional<double> number_in(const std::string& cell) {
  if (cell.empty()) return {};
  return std::stod(cell);
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
  return !one.spans.empty() && one.spans.front().style == text_style::bold ? one.spans.front().text : "";
}

std::vector<markdown::block> story_of(std::string_view page) { return markdown::parse(page_of(page)); }

std::string title_of(std::string_view stage) { return story_of(stage).front().text(); }

stage_times times_in(const std::vector<markdown::block>& page) {
  constexpr std::string_view over = "gain over ";
  stage_times found;
  std::vector<std::string> heading;
  for (const markdown::block& one : page) {
    constexpr std::string_view label = "Measured. ";
    const std::string text = one.text();
    if (text.starts_with(label)) found.from = text.substr(label.size());
    if (!one.is_in_table()) continue;
    std::vector<std::string> cells;
    for (const std::vector<markdown::span>& cell : one.cells())
      cells.push_back(cell.empty() ? "" : cell.front().text);
    if (one.is == markdown::block::kind::header) {
      heading = cells;
    } else if (heading.front() == "device") {
      found.all.push_back({cells[0],
                           cells[1],
                           std::stod(cells[2]),
                           std::stod(cells[3]),
                           std::stod(cells[4]) / 100,
                           {},
                           number_in(cells[6])});
      if (!cells[5].empty()) found.all.back().over = {std::stod(cells[5]), heading[5].substr(over.size())};
    }
  }
  return found;
}

std::string story_text(std::string_view stage, const terminal& screen) {
  std::string text;
  std::vector<table_row> rows;
  const auto end_table = [&] {
    if (!rows.empty()) text += align(rows, 2);
    rows.clear();
  };
  for (const markdown::block& one : story_of(stage)) {
    if (one.is == markdown::block::kind::header) {
      end_table();
      text += '\n';
    }
    if (one.is_in_table()) {
      rows.push_back(row_of(one));
      continue;
    }
    end_table();
    if (!text.empty() && one.is != markdown::block::kind::item) text += '\n';
    text += markdown::as_text(one, screen);
  }
  end_table();
  return text;
}

}  // namespace fanin::cli
