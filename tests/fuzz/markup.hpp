// SPDX-License-Identifier: Apache-2.0
// Whether text is well-formed markup: what XML demands of SVG, and fanin's HTML pages keep too, but for <!DOCTYPE>
// and <meta>.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

namespace fanin::fuzz {

/// Whether the bytes are UTF-8, of characters that XML 1.0 allows.
inline bool is_xml_text(std::string_view text) {
  constexpr char32_t least_of_bytes[] = {0, 0, 0x80, 0x800, 0x10000};
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = first < 0x80       ? 1
                              : first >> 5 == 6  ? 2
                              : first >> 4 == 14 ? 3
                              : first >> 3 == 30 ? 4
                                                 : 0;
    if (bytes == 0 || bytes > text.size()) return false;
    char32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
      const auto next = static_cast<unsigned char>(text[i]);
      if (next >> 6 != 2) return false;
      code = code << 6 | (next & 0x3f);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000, no_character = code == 0xfffe || code == 0xffff;
    const bool control = code < 0x20 && code != '\n';
    if (control || surrogate || no_character || code < least_of_bytes[bytes] || code > 0x10ffff) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

/// Whether every & begins one of the references that fanin writes.
inline bool has_known_references(std::string_view text) {
  constexpr std::string_view known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#160;"};
  for (std::size_t at = 0; (at = text.find('&', at)) != text.npos; ++at) {
    const std::string_view rest = text.substr(at);
    if (std::ranges::none_of(known, [&](std::string_view one) { return rest.starts_with(one); })) return false;
  }
  return true;
}

/// Checks the numbers of a drawing: places are finite, and sizes are not negative.
inline void expect_drawable(std::string_view name, std::string_view value) {
  constexpr std::string_view sizes[] = {"width", "height"}, places[] = {"x", "y", "x1", "y1", "x2", "y2"};
  const bool size = std::ranges::find(sizes, name) != std::end(sizes);
  if (size || std::ranges::find(places, name) != std::end(places)) {
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    expect(code == std::errc() && end == value.data() + value.size() && std::isfinite(number), "a place is a number");
    expect(!size || number >= 0, "a size is not negative");
  } else if (name == "points" || name == "transform" || name == "viewBox") {
    expect(value.find("nan") == value.npos && value.find("inf") == value.npos, "a list of places has numbers");
  }
}

/// Checks a text of elements that are closed in the right order, with quoted attributes and unique ids.
inline void expect_well_formed(std::string_view text) {
  expect(is_xml_text(text), "markup is UTF-8 without control characters");
  expect(has_known_references(text), "an ampersand begins a reference");
  constexpr std::string_view doctype = "<!DOCTYPE html>";
  if (text.starts_with(doctype)) text.remove_prefix(doctype.size());
  std::vector<std::string_view> open;
  std::set<std::string_view> ids;
  for (std::size_t at; (at = text.find('<')) != text.npos;) {
    text.remove_prefix(at + 1);
    const bool closes = text.starts_with('/');
    if (closes) text.remove_prefix(1);
    const std::string_view name = text.substr(0, text.find_first_of(" />\n"));
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    expect(!name.empty() && name.find_first_not_of(letters) == name.npos, "a tag begins with a name");
    expect(name != "script" && name != "iframe" && name != "img", "there is neither a script nor a link outwards");
    text.remove_prefix(name.size());
    while (text.starts_with(' ')) {
      const std::size_t equals = text.find("=\"");
      expect(equals != text.npos, "an attribute has a quoted value");
      const std::string_view attribute = text.substr(1, equals - 1);
      expect(attribute.find_first_of(" <>\"'&") == attribute.npos && !attribute.starts_with("on"),
             "an attribute's name");
      text.remove_prefix(equals + 2);
      const std::string_view value = text.substr(0, text.find('"'));
      expect(value.size() < text.size() && value.find('<') == value.npos, "a value is closed and has no tag");
      text.remove_prefix(value.size() + 1);
      if (attribute == "id") expect(ids.insert(value).second, "an id is unique");
      expect_drawable(attribute, value);
    }
    const bool empty = text.starts_with('/') || name == "meta";
    if (text.starts_with('/')) text.remove_prefix(1);
    expect(text.starts_with('>'), "a tag is closed");
    if (closes) {
      expect(!open.empty() && open.back() == name, "elements are closed in the right order");
      open.pop_back();
    } else if (!empty) {
      open.push_back(name);
    }
  }
  expect(open.empty(), "every element is closed");
}

}  // namespace fanin::fuzz
