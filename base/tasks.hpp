// SPDX-License-Identifier: Apache-2.0
// Tasks, the backends that have threads for them, and how many tasks an array is cut into.
#pragma once

#include <bit>
#include <cstddef>

#include <fanin/backend.hpp>

namespace fanin {

/// call(context, i) runs task i, and does not throw.
struct task {
  void (*call)(void* context, std::size_t index);
  void* context;
};

/// A backend that hands tasks to threads.
class task_backend : public backend {
 public:
  /// Runs the tasks 0 .. count - 1, in any order, on up to `threads` threads, the caller's among them.
  virtual void run(unsigned threads, std::size_t count, task each) const = 0;
};

/// The most threads that are used, whatever the request says: each needs a stack, and if one cannot be started, the
/// OpenMP or TBB runtime ends the process.
inline constexpr unsigned most_threads = 256;

/// The elements that one task of `threads` threads takes of `count` elements, which are not 0: a power of two of
/// leaves of `leaf` elements.
inline std::size_t chunk_length(std::size_t count, std::size_t leaf, unsigned threads) noexcept {
  constexpr std::size_t chunks_per_thread = 16;
  const std::size_t leaves = (count + leaf - 1) / leaf;
  return leaf * std::bit_ceil((leaves - 1) / (threads * chunks_per_thread) + 1);
}

}  // namespace fanin
