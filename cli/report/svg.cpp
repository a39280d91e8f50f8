// SPDX-License-Identifier: Apache-2.0
#include "cli/report/svg.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "cli/kit/text.hpp"

namespace fanin::cli::charts {

namespace {

std::string colour_class(std::size_t colour) {
  return colour < style::colours ? fmt::format("c{}", colour) : std::string("plain");
}

/// The marker of each colour, as a path around (0, 0).
constexpr std::string_view shapes[style::colours] = {"M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z",
                                                     "M-3.2,-3.2h6.4v6.4h-6.4z",
                                                     "M0,-4.2L4,3L-4,3z",
                                                     "M0,-4.6L4.6,0L0,4.6L-4.6,0z",
                                                     "M0,4.2L4,-3L-4,-3z",
                                                     "M-1.4,-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z"};

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe, allowed = one_line(text);
  for (const std::string_view no_character : {"\uFFFE", "\uFFFF"}) {
    for (std::size_t at; (at = allowed.find(no_character)) != allowed.npos;)
      allowed.replace(at, no_character.size(), "?");
  }
  for (const char c : allowed) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

double text_width(std::string_view text) {
  const auto among = [](char c, std::string_view some) { return some.find(c) != some.npos; };
  double ems = 0;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if ((code & 0xc0) == 0x80) continue;  // A continuation byte of UTF-8 adds no width.
    ems += among(c, "ijlftr.,:;'|/-() ")       ? 0.42
           : among(c, "mwMW%@")                ? 1
           : code < 0x80 && std::isupper(code) ? 0.78
                                               : 0.64;
  }
  return ems * font_size;
}

void canvas::text(double x, double y, std::string_view words, align at, std::string_view look) {
  if (words.empty()) return;
  constexpr std::string_view anchors[] = {"start", "middle", "end"};
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                       anchors[static_cast<std::size_t>(at)], look, escaped(words));
}

void canvas::line(double x1, double y1, double x2, double y2, std::string_view look) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
                       y2, look);
}

void canvas::box(double x, double y, double width, double height, std::string_view look) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", x, y,
                       width, height, look);
}

void canvas::bar(double x, double y, double width, double height, std::size_t colour) {
  box(x, y, width, height, colour_class(colour) + " bar");
}

void canvas::polyline(std::span<const series::point> places, const style& drawn) {
  std::string path;
  for (const auto& [x, y] : places) path += fmt::format("{:.1f},{:.1f} ", x, y);
  constexpr std::string_view dashes[] = {"", "", " dashed", " dotted"};
  body_ += fmt::format("<polyline points=\"{}\" class=\"{}{}\"/>\n", path, colour_class(drawn.colour),
                       dashes[static_cast<std::size_t>(drawn.how)]);
}

void canvas::marker(double x, double y, const style& drawn) {
  if (drawn.how == style::look::dashed || drawn.how == style::look::dotted) return;
  body_ += fmt::format("<path d=\"{}\" transform=\"translate({:.1f} {:.1f})\" class=\"{}{}\"/>\n",
                       shapes[drawn.colour % style::colours], x, y, colour_class(drawn.colour),
                       drawn.how == style::look::hollow ? " hollow" : "");
}

double canvas::paragraph(double y, std::string_view words, std::string_view look) {
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) text(0, y, line, align::start, look);
    if (!line.empty()) y += line_height;
    line.clear();
  };
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (text_width(line) + text_width(word) + font_size > width_) end_line();
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  end_line();
  return y;
}

double legend::add(std::string_view name, double sample) {
  constexpr double gap = 6, after = 14;
  const double width = sample + gap + text_width(name);
  if (x_ > 0 && x_ + width > target_.width()) {
    x_ = 0;
    y_ += line_height;
  }
  target_.text(x_ + sample + gap, y_, name);
  return std::exchange(x_, x_ + width + after);
}

void legend::add_line(std::string_view name, const style& drawn, bool joined) {
  const double sample = joined ? 24 : 12;
  const double x = add(name, sample);
  const series::point ends[] = {{x, y_ - 4}, {x + sample, y_ - 4}};
  if (joined) target_.polyline(ends, drawn);
  target_.marker(x + sample / 2, y_ - 4, drawn);
}

void legend::add_bar(std::string_view name, std::size_t colour) {
  constexpr double sample = 12;
  const double x = add(name, sample);
  target_.bar(x, y_ - 10, sample, sample, colour);
}

}  // namespace fanin::cli::charts
