// SPDX-License-Identifier: Apache-2.0
// How tests hand a text to the parser in pieces, as a reader does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "cli/input/text_parser.hpp"

namespace fanin::cli {

/// Parses the text. The parser sees `piece` bytes, and as many more each time that it cannot go on, but at least a
/// 1024th of what it has seen. Calls after_each() whenever it has gone on, or could not.
template <class F>
void parse_in_pieces(text_parser& parser, std::string_view text, std::size_t piece, F after_each) {
  std::size_t at = 0, window = piece;
  for (bool last = false; !last;) {
    last = at + window >= text.size();
    const std::size_t done = parser.parse(text.substr(at, window), last);
    at += done;
    window = done == 0 ? window + std::max(piece, window / 1024) : piece;
    after_each();
  }
  CHECK(at == text.size());
}

/// Checks that read(piece) is `expected` for pieces of every length.
template <class Read>
void check_every_piece(std::string_view text, const std::string& expected, Read read) {
  CAPTURE(text);
  for (std::size_t piece = 1; piece <= text.size() + 1; ++piece) {
    CAPTURE(piece);
    CHECK(read(piece) == expected);
  }
}

}  // namespace fanin::cli
