// SPDX-License-Identifier: Apache-2.0
// The part that all fuzz targets share: the check of an invariant, and the bytes of an input as choices and text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace fanin::fuzz {

/// Ends the process, which libFuzzer reports as a finding, unless the invariant holds.
inline void expect(bool holds, std::string_view invariant, const char* file = __builtin_FILE(),
                   unsigned line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%u: not so: %.*s\n", file, line, static_cast<int>(invariant.size()), invariant.data());
  std::abort();
}

/// The bytes of one input of a fuzz target. An input that has ended gives zeros.
class input_bytes {
 public:
  input_bytes(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  /// A number below `count`, which is at most 256.
  std::size_t choice(std::size_t count) { return byte() % count; }
  std::span<const std::uint8_t> bytes() const { return rest_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(rest_.data()), rest_.size()}; }
  /// The text up to the next `end`, which is consumed too.
  std::string_view text_until(char end) {
    const std::string_view part = text().substr(0, text().find(end));
    rest_ = rest_.subspan(part.size() < rest_.size() ? part.size() + 1 : part.size());
    return part;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace fanin::fuzz
