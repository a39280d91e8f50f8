// SPDX-License-Identifier: Apache-2.0
// The abilities of standard output. A terminal has styles and a width. A file or a pipe gets plain text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fanin::cli {

enum class text_style : std::uint8_t { plain, bold, code, good, bad, doubtful };

class terminal {
 public:
  /// Text is styled on a terminal, unless the environment variable NO_COLOR is set (https://no-color.org) or TERM is
  /// "dumb".
  static terminal of_stdout();

  /// A line has `width` columns. The styles are escape sequences of ANSI if `styled`, else nothing.
  terminal(bool styled, std::size_t width) : styled_(styled), width_(width) {}

  /// The text that begins or ends a style.
  std::string_view begin(text_style style) const;
  std::string_view end(text_style style) const;
  /// `text` with its verdicts (the words SLOWER, BROKEN and WRONG, FASTER, UNDECIDED) in colour.
  std::string with_verdicts(std::string_view text) const;
  std::size_t width() const { return width_; }

 private:
  bool styled_;
  std::size_t width_;
};

}  // namespace fanin::cli
