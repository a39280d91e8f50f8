// SPDX-License-Identifier: Apache-2.0
#include "cli/lesson/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/report/svg.hpp"

namespace fanin::cli::markdown {

namespace {

/// The number of bytes of "12. " at the beginning of a line; 0 if the line does not begin so.
std::size_t size_of_number(std::string_view line) {
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

std::vector<block> parse(std::string_view page) {
  std::vector<std::pair<block::kind, std::string>> texts;
  bool begins = true;  // Whether the next line begins a block.
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(line.size() + 1, page.size()));
    if (line.starts_with("![") || line.starts_with("<!--") || line.empty()) {
      begins = true;
    } else if (const std::size_t text = line.find_first_not_of('#'); text > 0 && text != line.npos) {
      texts.emplace_back(block::kind::heading, line.substr(text + 1));
      begins = true;
    } else if (begins || size_of_number(line) > 0) {
      texts.emplace_back(size_of_number(line) > 0 ? block::kind::item : block::kind::paragraph, line);
      begins = false;
    } else {
      texts.back().second += fmt::format(" {}", line.substr(std::min(line.find_first_not_of(' '), line.size())));
    }
  }
  std::vector<block> blocks;
  for (const auto& [kind, text] : texts) blocks.push_back({kind, spans_of(text)});
  return blocks;
}

std::string as_text(const block& one, const terminal& screen) {
  const std::size_t indent = one.is == block::kind::item ? size_of_number(one.text()) : 0;
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
  for (const span& part : one.spans) {
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

std::string as_html(const block& one) {
  constexpr std::string_view tags[] = {"", "strong", "code"};
  std::string inside;
  for (const span& part : one.spans) {
    const std::string_view tag = tags[static_cast<std::size_t>(part.style)];
    const std::string text = charts::escaped(part.text);
    inside += tag.empty() ? text : fmt::format("<{0}>{1}</{0}>", tag, text);
  }
  return fmt::format("<{0}>{1}</{0}>\n", one.is == block::kind::heading ? "h2" : "p", inside);
}

}  // namespace fanin::cli::markdown
