// SPDX-License-Identifier: Apache-2.0
// The part of Markdown in which the pages of docs/ladder.md are written: headings, paragraphs, numbered items,
// **bold** and `code`. A link is its text; images and comments are left out.
#pragma once

#include <cstdint>
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
  enum class kind : std::uint8_t { heading, paragraph, item };
  kind is;
  std::vector<span> spans;

  /// The text without its styles.
  std::string text() const;
};

std::vector<block> parse(std::string_view page);

/// The block as lines that fit the terminal. Every line ends with a newline.
std::string as_text(const block& one, const terminal& screen);
/// The block as an HTML element; an item is a paragraph.
std::string as_html(const block& one);

}  // namespace fanin::cli::markdown
