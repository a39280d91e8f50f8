// SPDX-License-Identifier: Apache-2.0
// Which line of a text each element stands in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fanin::cli {

/// Lines that follow each other and have equally many elements take 24 bytes together.
class element_lines {
 public:
  /// Line `line` ends behind `elements` elements of the text.
  void end_line(std::uint64_t line, std::uint64_t elements) {
    const std::uint64_t of_line = elements - elements_;
    if (of_line > 0 && !continues(line, of_line)) runs_.push_back({elements_, line, of_line});
    elements_ = elements;
  }
  /// The elements of the lines that have ended.
  std::uint64_t elements() const noexcept { return elements_; }
  /// The line of an element of these, which count from 0.
  std::uint64_t line_of(std::uint64_t element) const {
    return std::prev(std::ranges::upper_bound(runs_, element, {}, &run::first_element))->line_of(element);
  }

 private:
  struct run {
    std::uint64_t first_element, first_line, each;  ///< `each`: the elements of each line
    std::uint64_t line_of(std::uint64_t element) const { return first_line + (element - first_element) / each; }
  };
  bool continues(std::uint64_t line, std::uint64_t of_line) const {
    return !runs_.empty() && runs_.back().each == of_line && runs_.back().line_of(elements_) == line;
  }

  std::vector<run> runs_;
  std::uint64_t elements_ = 0;
};

}  // namespace fanin::cli
