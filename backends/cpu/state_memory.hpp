// SPDX-License-Identifier: Apache-2.0
// Memory for raw states, and for elements that are copied before they are folded.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
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
      prefer_huge_pages();
    }
    return lines_[0].bytes;
  }

 private:
  struct alignas(detail::state_alignment) line {
    std::byte bytes[detail::state_alignment];
  };
  /// A fault for each page of 4 KiB takes longer than writing to the page.
  void prefer_huge_pages() const {
    constexpr std::size_t huge = std::size_t{1} << 21;
    if (count_ * sizeof(line) < 2 * huge) return;
    const auto first = (reinterpret_cast<std::uintptr_t>(lines_.get()) + huge - 1) / huge * huge;
    const auto end = reinterpret_cast<std::uintptr_t>(lines_.get() + count_) / huge * huge;
    static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
  }

  std::unique_ptr<line[]> lines_;
  std::size_t count_ = 0;
};

}  // namespace fanin::cpu
