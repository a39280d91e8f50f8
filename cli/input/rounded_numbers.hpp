// SPDX-License-Identifier: Apache-2.0
// The numbers that were rounded when they were read from text.
#pragma once

#include <cstdint>
#include <string_view>

namespace fanin::cli {

struct rounded_numbers {
  std::uint64_t integers = 0;  ///< numbers of digits alone, or with a point and zeros behind the digits
  bool decimals = false;       ///< whether a number with a fraction or an exponent was rounded

  bool any() const noexcept { return integers > 0 || decimals; }
  rounded_numbers& operator+=(const rounded_numbers& other) noexcept {
    integers += other.integers;
    decimals = decimals || other.decimals;
    return *this;
  }
  bool operator==(const rounded_numbers&) const = default;

  /// Takes note of a decimal number that was read as `value`. A word that is no decimal number, as inf, is not
  /// rounded.
  void note(std::string_view word, double value);
};

}  // namespace fanin::cli
