// SPDX-License-Identifier: Apache-2.0
// Memory for raw states, and for elements that are copied before they are folded.
#pragma once

#include <cstddef>
#include <memory>

#include <fanin/loop.hpp>

namespace fanin::cpu {

/// Memory for raw states, aligned to detail::state_alignment.
class state_memory {
 public:
  /// Memory of at least `bytes`, whose previous contents may be lost.
  std::byte* get(std::size_t bytes) {
    const std::size_t needed = bytes / sizeof(line) + 1;
    if (lines_ == nullptr || count_ < needed) {
      lines_.reset();  // before as much again is taken
      lines_ = std::make_unique_for_overwrite<line[]>(needed);
      count_ = needed;
    }
    return lines_[0].bytes;
  }

 private:
  struct alignas(detail::state_alignment) line {
    std::byte bytes[detail::state_alignment];
  };
  std::unique_ptr<line[]> lines_;
  std::size_t count_ = 0;
};

}  // namespace fanin::cpu
