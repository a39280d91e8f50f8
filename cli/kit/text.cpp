// SPDX-License-Identifier: Apache-2.0
#include "cli/kit/text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdio>

#include <fmt/ranges.h>

#include "base/words.hpp"

namespace fanin::cli {

std::string one_line(std::string_view text) {
  std::string line;
  int expected = 0;  // The number of bytes that the character of UTF-8 still lacks.
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = expected > 0 && (byte & 0xc0) == 0x80;
    const bool ends_control = continues && line.back() == '\xc2' && byte < 0xa0;
    expected = continues ? expected - 1 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
    if (ends_control) {
      line.back() = '?';
    } else if (byte < 0x20 || byte == 0x7f || (!continues && byte >= 0x80 && byte < 0xa0)) {
      line += '?';
    } else {
      line += c;
    }
  }
  return line;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string csv_cell(std::string text, char delimiter) {
  const auto needs_quotes = [&](char c) { return c == delimiter || c == '"' || c == '\n' || c == '\r'; };
  if (std::ranges::none_of(text, needs_quotes)) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return "\"" + text + "\"";
}

namespace {

template <class T>
std::string number_text(T x) {
  if constexpr (floating<T>) {
    if (std::isnan(x)) return "nan";
  }
  return fmt::format("{}", static_cast<computed_as<T>>(x));
}

/// A complex number as text. text() gives the texts of the real and of the imaginary part.
template <class T, class Text>
std::string complex_text(const std::complex<T>& x, Text text) {
  const std::string im = text(x.imag());
  return text(x.real()) + (im.starts_with('-') ? "" : "+") + im + "j";
}

template <class T>
std::string number_text(const std::complex<T>& x) {
  return complex_text(x, [](T part) { return number_text(part); });
}

template <class T>
std::string number_hex(T x) {
  if constexpr (sizeof(T) == 8 && std::integral<T>) {
    const auto bits = static_cast<std::uint64_t>(x), size = x < 0 ? 0 - bits : bits;
    const auto width = static_cast<int>(std::bit_width(size));
    if (width - std::countr_zero(size) > 53) {  // no double has all digits
      std::string digits = fmt::format("{:016x}", size << (64 - width) << 1);
      digits.resize(digits.find_last_not_of('0') + 1);
      return fmt::format("{}0x1.{}p+{}", x < 0 ? "-" : "", digits, width - 1);
    }
  }
  return value_hex(static_cast<double>(x));
}
template <class T>
std::string number_hex(const std::complex<T>& x) {
  return complex_text(x, [](T part) { return number_hex(part); });
}

}  // namespace

std::string value_text(const scalar& value) {
  return fanin::visit(
      [&]<class R>(const R& x) {
        if constexpr (result_traits<R>::form == result_form::number) return number_text(x);
        if constexpr (result_traits<R>::form == result_form::indexed) return number_text(x.value);
        if constexpr (result_traits<R>::form == result_form::extremes)
          return number_text(x.min) + " " + number_text(x.max);
      },
      value);
}

std::string value_text(double value) { return value_text(scalar(value)); }

std::string change_text(double fraction) {
  const std::string text = fmt::format("{:+.1f} %", 100 * fraction);
  return text.substr(1) == "0.0 %" ? text.substr(1) : text;
}

std::string value_hex(double value) {
  if (std::isnan(value)) return "nan";
  char text[40];
  const int length = std::snprintf(text, sizeof text, "%a", value);
  return {text, static_cast<std::size_t>(length)};
}

std::string value_hex(const scalar& value) {
  return fanin::visit(
      []<class R>(const R& x) {
        if constexpr (result_traits<R>::form == result_form::number) return number_hex(x);
        if constexpr (result_traits<R>::form == result_form::indexed) return number_hex(x.value);
        if constexpr (result_traits<R>::form == result_form::extremes) {
          return number_hex(x.min) + " " + number_hex(x.max);
        }
      },
      value);
}

std::string other_names(std::string_view word, std::span<const std::string> names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string similar = word.empty() ? "" : detail::suggestion(word, known);
  const bool asks = similar.starts_with("; did you mean");
  constexpr std::size_t most = 16;
  std::vector<std::string> shown;
  for (const std::string_view name : known) {
    if (shown.size() < most) shown.push_back(printable(name));
  }
  return fmt::format("{} there are {}{}", asks ? printable(similar.substr(0, similar.find("'?") + 2)) : ";",
                     fmt::join(shown, ", "),
                     known.size() > most ? fmt::format(" and {} more", known.size() - most) : "");
}

}  // namespace fanin::cli
