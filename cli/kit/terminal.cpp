// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace fanin::cli {

terminal terminal::of_stdout() {
  constexpr std::size_t narrowest = 40, widest = 100;  // Longer lines are hard to read.
  if (::isatty(STDOUT_FILENO) == 0) return {false, widest};
  const char *no_color = std::getenv("NO_COLOR"), *name = std::getenv("TERM");
  const bool refused = no_color != nullptr && *no_color != '\0';
  const bool dumb = name == nullptr || std::string_view(name) == "dumb";
  struct winsize size = {};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return {!refused && !dumb, known ? std::clamp<std::size_t>(size.ws_col, narrowest, widest) : 80};
}

std::string_view terminal::begin(text_style style) const {
  constexpr std::string_view sequences[] = {"", "\033[1m", "\033[36m", "\033[32m", "\033[31m", "\033[90m"};
  return styled_ ? sequences[static_cast<std::size_t>(style)] : "";
}

std::string_view terminal::end(text_style style) const {
  return styled_ && style != text_style::plain ? "\033[0m" : "";
}

std::string terminal::with_verdicts(std::string_view text) const {
  struct verdict_word {
    std::string_view word;
    text_style style;
  };
  constexpr verdict_word words[] = {{"SLOWER", text_style::bad},
                                    {"BROKEN", text_style::bad},
                                    {"WRONG", text_style::bad},
                                    {"FASTER", text_style::good},
                                    {"UNDECIDED", text_style::doubtful}};
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end]) == is_letter(text[at])) ++end;
    const std::string_view piece = text.substr(at, end - at);
    const auto* const known = std::ranges::find(words, piece, &verdict_word::word);
    const text_style style = known == std::end(words) ? text_style::plain : known->style;
    all.append(begin(style)).append(piece).append(this->end(style));
    at = end;
  }
  return all;
}

}  // namespace fanin::cli
