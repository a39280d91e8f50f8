// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/kit/text.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli::markdown {

namespace {

/// The number of bytes of "12. " at the beginning of a line; 0 if the line does not begin so.
std::size_t bytes_of_number(std::string_view line) {
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

std::vector<span> spans_of(std::string_view text) {
  std::vector<span> spans = {{text_style::plain, ""}};
  const auto toggle = [&](text_style style) {
    spans.push_back({spans.back().style == style ? text_style::plain : style, ""});
  };
  while (!text.empty()) {
    const bool in_code = spans.back().style == text_style::code;
    const std::size_t middle = text.front() == '[' ? text.find("](") : text.npos;
    std::size_t used = 1;
    if (text.front() == '`') {
      toggle(text_style::code);
    } else if (!in_code && text.starts_with("**")) {
      toggle(text_style::bold);
      used = 2;
    } else if (!in_code && middle != text.npos) {
      spans.back().text += text.substr(1, middle - 1);
      used = std::min(text.find(')', middle), text.size() - 1) + 1;
    } else {
      spans.back().text += text.front();
    }
    text.remove_prefix(used);
  }
  std::erase_if(spans, [](const span& one) { return one.text.empty(); });
  return spans;
}

}  // namespace

std::string block::text() const {
  std::string all;
  for (const span& one : spans) all += one.text;
  return all;
}

std::vector<std::vector<span>> block::cells() const {
  std::vector<std::vector<span>> all(1);
  for (const span& one : spans) {
    std::string_view rest = one.text;
    for (std::size_t bar; (bar = rest.find('|')) != rest.npos; rest.remove_prefix(bar + 1)) {
      all.back().push_back({one.style, std::string(rest.substr(0, bar))});
      all.emplace_back();
    }
    all.back().push_back({one.style, std::string(rest)});
  }
  for (std::vector<span>& cell : all) {
    if (cell.empty()) continue;
    std::string& first = cell.front().text;
    first.erase(0, std::min(first.find_first_not_of(' '), first.size()));
    std::string& last = cell.back().text;
    last.erase(last.find_last_not_of(' ') + 1);
    std::erase_if(cell, [](const span& one) { return one.text.empty(); });
  }
  return all;
}

std::vector<block> parse(std::string_view page) {
  using kind = block::kind;
  std::vector<std::pair<kind, std::string>> texts;
  bool begins = true;  // Whether the next line begins a block.
  bool in_answer = false, in_code = false;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(line.size() + 1, page.size()));
    if (line.starts_with("```")) {
      in_code = !in_code;
      if (in_code) texts.emplace_back(kind::code, "");
      begins = true;
    } else if (in_code) {
      texts.back().second += fmt::format("{}{}", texts.back().second.empty() ? "" : "\n", line);
    } else if (line.starts_with("![") || line.starts_with("<") || line.empty()) {
      if (line.starts_with("<details>")) in_answer = true;
      if (line.starts_with("</details>")) in_answer = false;
      begins = true;
    } else if (line.starts_with("|")) {
      if (line.starts_with("|--")) {
        texts.back().first = kind::header;
      } else {
        texts.emplace_back(kind::row, line.substr(1, line.rfind('|') - 1));
      }
      begins = true;
    } else if (const std::size_t text = line.find_first_not_of('#'); text > 0 && text != line.npos) {
      texts.emplace_back(kind::heading, line.substr(text + 1));
      begins = true;
    } else if (begins || bytes_of_number(line) > 0) {
      texts.emplace_back(in_answer ? kind::answer : bytes_of_number(line) > 0 ? kind::item : kind::paragraph, line);
      begins = false;
    } else {
      texts.back().second += fmt::format(" {}", line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
  }
  std::vector<block> blocks;
  for (const auto& [is, text] : texts) {
    blocks.push_back({is, is == kind::code ? std::vector<span>{{text_style::code, text}} : spans_of(text)});
  }
  return blocks;
}

std::string as_text(const block& one, const terminal& screen) {
  if (one.is == block::kind::code) return one.text() + "\n";
  const std::size_t indent = one.is == block::kind::item ? bytes_of_number(one.text()) : 0;
  std::string all, word;
  std::size_t column = 0, columns = 0;  // The columns of the line and of the word.
  const auto end_word = [&] {
    if (columns == 0) return;
    const bool fits = column == 0 || column + 1 + columns <= screen.width();
    all += column == 0 ? "" : fits ? " " : "\n" + std::string(indent, ' ');
    column = fits ? column + (column > 0 ? 1 : 0) + columns : indent + columns;
    all += word;
    word.clear();
    columns = 0;
  };
  std::vector<span> spans = one.spans;
  if (one.is == block::kind::answer)
    spans.insert(spans.begin(), {{text_style::bold, "Answer."}, {text_style::plain, " "}});
  for (const span& part : spans) {
    const text_style style = one.is == block::kind::heading ? text_style::bold : part.style;
    word += screen.begin(style);
    for (const char c : part.text) {
      if (c != ' ') {
        word += c;
        columns +=
            (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;  // Continuation bytes of UTF-8 are no columns.
        continue;
      }
      word += screen.end(style);
      end_word();
      word = screen.begin(style);
    }
    word += screen.end(style);
  }
  end_word();
  return all + "\n";
}

std::string escaped_text(const span& one) { return charts::escaped(one.text); }

std::string as_html(const std::vector<span>& spans, const span_writer& write) {
  constexpr std::string_view tags[] = {"", "strong", "code"};
  std::string inside;
  for (const span& part : spans) {
    const std::string_view tag = tags[static_cast<std::size_t>(part.style)];
    inside += tag.empty() ? write(part) : fmt::format("<{0}>{1}</{0}>", tag, write(part));
  }
  return inside;
}

std::string as_html(const block& one, const span_writer& write) {
  using kind = block::kind;
  if (one.is == kind::code) {
    std::string lines;
    for (const std::string& line : split(one.text(), '\n')) lines += charts::escaped(line) + "\n";
    return fmt::format("<pre>{}</pre>\n", lines);
  }
  if (one.is_in_table()) {
    const std::string_view tag = one.is == kind::header ? "th" : "td";
    std::string cells;
    for (const std::vector<span>& cell : one.cells())
      cells += fmt::format("<{0}>{1}</{0}>", tag, as_html(cell, write));
    return fmt::format("<tr>{}</tr>\n", cells);
  }
  const std::string inside = as_html(one.spans, one.is == kind::heading ? escaped_text : write);
  if (one.is == kind::answer) return fmt::format("<details><summary>Answer</summary><p>{}</p></details>\n", inside);
  return fmt::format("<{0}>{1}</{0}>\n", one.is == kind::heading ? "h2" : "p", inside);
}

std::string as_html(const std::vector<block>& all, const span_writer& write) {
  constexpr std::string_view begin = "<div class=\"scroll\"><table>\n", end = "</table></div>\n";
  std::string text;
  bool in_table = false;
  for (const block& one : all) {
    if (in_table && one.is != block::kind::row) text += end;
    if (one.is == block::kind::header) text += begin;
    text += as_html(one, write);
    in_table = one.is_in_table();
  }
  return in_table ? text.append(end) : text;
}

}  // namespace fanin::cli::markdown
