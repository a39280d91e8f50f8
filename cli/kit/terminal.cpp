// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

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
  constexpr std::string_view sequences[] = {"", "\033[1m", "\033[36m"};
  return styled_ ? sequences[static_cast<std::size_t>(style)] : "";
}

std::string_view terminal::end(text_style style) const {
  return styled_ && style != text_style::plain ? "\033[0m" : "";
}

}  // namespace fanin::cli
