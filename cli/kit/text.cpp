#include "cli/kit/text.hpp"

#include <cmath>
#include <cstdio>

namespace fanin::cli {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return line;
}

std::string value_text(const scalar& value) {
  return std::visit(
      [](auto x) -> std::string {
        if constexpr (std::is_floating_point_v<decltype(x)>) {
          if (std::isnan(x)) return "nan";
        }
        return fmt::format("{}", x);
      },
      value);
}

std::string value_text(double value) { return value_text(scalar(value)); }

std::string value_hex(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  const int length = std::snprintf(text, sizeof text, "%a", value);
  return {text, static_cast<std::size_t>(length)};
}

std::string value_hex(const scalar& value) {
  return value_hex(std::visit([](auto x) { return static_cast<double>(x); }, value));
}

}  // namespace fanin::cli
