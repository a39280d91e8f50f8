// SPDX-License-Identifier: Apache-2.0
// Scratch, from which pieces are taken one after another.
#pragma once

#include <cstddef>

namespace fanin::cuda {

/// Cuts memory into pieces. Without memory it tells how many bytes the same pieces take.
class scratch_pieces {
 public:
  explicit scratch_pieces(std::byte* memory = nullptr) : memory_(memory) {}
  /// `bytes` bytes at a boundary of 256, or null without memory.
  template <class T>
  T* take(std::size_t bytes) {
    std::byte* const piece = memory_ == nullptr ? nullptr : memory_ + taken_;
    taken_ += (bytes + 255) / 256 * 256;
    return reinterpret_cast<T*>(piece);
  }
  std::size_t taken_bytes() const { return taken_; }

 private:
  std::byte* memory_;
  std::size_t taken_ = 0;
};

}  // namespace fanin::cuda
