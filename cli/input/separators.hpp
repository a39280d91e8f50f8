// SPDX-License-Identifier: Apache-2.0
// The places of the separators in a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fanin::cli {

/// The offsets of the separators in a part of a text, in order, found with SIMD.
class separators {
 public:
  static constexpr std::size_t most_bytes = 16384;

  /// Finds the separators in text[begin, begin + most_bytes), or up to the end of the text. Separators that were
  /// found before are forgotten. The delimiter is no line end, quote or NUL.
  void find(std::string_view text, std::size_t begin, char delimiter);

  /// The part of the text in which separators were found.
  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return end_; }
  std::size_t delimiters() const noexcept { return delimiters_; }
  /// The offset of the delimiter i, and of the "\n", "\r", double quote or NUL i; behind the last one an offset after
  /// end().
  std::size_t delimiter(std::size_t i) const noexcept { return begin_ + delimiter_[i]; }
  std::size_t line_end_or_odd(std::size_t i) const noexcept { return begin_ + other_[i]; }

 private:
  std::size_t begin_ = 0, end_ = 0, delimiters_ = 0;
  std::vector<std::uint32_t> delimiter_, other_;  ///< from begin_ on
};

}  // namespace fanin::cli
