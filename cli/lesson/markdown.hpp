// SPDX-License-Identifier: Apache-2.0
// The part of Markdown in which the pages of docs/ladder.md are written: headings, paragraphs, numbered items,
// tables, code, answers that unfold, **bold** and `code`. A link is its text; images and comments are left out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/kit/terminal.hpp"

namespace fanin::cli::markdown {

/// A piece of text in one style.
struct span {
  text_style style;
  std::string text;
};

struct block {
  enum class kind : std::uint8_t { heading, paragraph, item, answer, code, header, row };  ///< `header`: of a table
  kind is;
  std::vector<span> spans;  ///< of a header or a row: the text between its outer bars

  /// The text without its styles.
  std::string text() const;
  bool is_in_table() const { return is == kind::header || is == kind::row; }
  /// The cells of a header or a row.
  std::vector<std::vector<span>> cells() const;
};

std::vector<block> parse(std::string_view page);

/// The block as lines that fit the terminal. Every line ends with a newline. An answer begins with a word that says
/// so.
std::string as_text(const block& one, const terminal& screen);

/// A span's text as HTML, without the span's style.
using span_writer = std::function<std::string(const span&)>;
std::string escaped_text(const span& one);

std::string as_html(const std::vector<span>& spans, const span_writer& write = escaped_text);
/// The block as an HTML element; an item is a paragraph, and an answer a <details>. A header or a row is a table's
/// row.
std::string as_html(const block& one, const span_writer& write = escaped_text);
/// The blocks one after the other.
std::string as_html(const std::vector<block>& all, const span_writer& write = escaped_text);

}  // namespace fanin::cli::markdown
