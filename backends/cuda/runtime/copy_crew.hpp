// SPDX-License-Identifier: Apache-2.0
// A pool of threads that copies memory in pieces, while the caller uses the pieces that are copied. Independent of
// CUDA.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/threads.hpp"

namespace fanin::cuda {

/// The threads begin the copies of pieces in the order of add(); where they are late, the caller copies a piece
/// itself. Copies may end in any order; finish_next() returns the pieces in the order of add(). Threads: one caller
/// at a time.
class copy_crew {
 public:
  /// A thread copies a piece in 25 to 50 us: short enough for transfers to the device to start soon, and long enough
  /// for a lock to cost little.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;
  /// The most pieces that are added and not yet returned by finish_next().
  static constexpr std::size_t most_pieces = 256;
  /// More threads do not copy faster: the bandwidth of the memory is used up.
  static constexpr unsigned most_threads = 16;

  copy_crew() = default;
  /// All pieces must have been returned or cancelled.
  ~copy_crew();
  copy_crew(const copy_crew&) = delete;
  copy_crew& operator=(const copy_crew&) = delete;

  /// Lets up to `threads` >= 1 threads copy, the caller's included. Missing threads are started, and kept; if the
  /// system cannot start one, fewer copy.
  void set_threads(unsigned threads);

  /// Enqueues a copy. Both arrays are in use until finish_next() has returned its last piece, or cancel() returns.
  void add(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Waits for the copy of the next piece; copies it in the calling thread if no thread has begun it. Returns the
  /// size of the piece, or 0 if no piece is left.
  std::size_t finish_next();

  /// Whether the next piece is copied.
  bool next_is_done();

  /// Removes the pieces that no thread has begun, and waits for the others.
  void cancel() noexcept;

 private:
  struct piece {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
    bool done;
  };

  piece& at(std::uint64_t i) noexcept { return pieces_[i % most_pieces]; }
  void copy_one(std::unique_lock<std::mutex>& lock);
  void run_thread(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable work_added_, next_done_;
  std::array<piece, most_pieces> pieces_{};
  std::uint64_t finished_ = 0, begun_ = 0, added_ = 0;  ///< finished_ <= begun_ <= added_
  std::size_t helpers_ = 0;                             ///< threads that may copy, besides the caller's, if they run
  bool stop_ = false;
  std::vector<std::jthread> threads_;  ///< declared last, so that the threads end before the other members
};

inline copy_crew::~copy_crew() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  work_added_.notify_all();
}

inline void copy_crew::set_threads(unsigned threads) {
  const std::size_t helpers = std::min(threads, most_threads) - 1;
  try {
    while (threads_.size() < helpers) threads_.emplace_back([this, i = threads_.size()] { run_thread(i); });
  } catch (const std::system_error&) {
  }
  const std::lock_guard lock(mutex_);
  helpers_ = helpers;
}

inline void copy_crew::add(std::byte* to, const std::byte* from, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    while (bytes > 0) {
      assert(added_ - finished_ < most_pieces);
      const std::size_t size = std::min(bytes, piece_bytes);
      at(added_++) = {to, from, size, false};
      to += size;
      from += size;
      bytes -= size;
    }
  }
  if (helpers_ > 0) work_added_.notify_all();
}

inline std::size_t copy_crew::finish_next() {
  std::unique_lock lock(mutex_);
  if (finished_ == added_) return 0;
  if (begun_ == finished_) copy_one(lock);
  next_done_.wait(lock, [&] { return at(finished_).done; });
  return at(finished_++).bytes;
}

inline bool copy_crew::next_is_done() {
  const std::lock_guard lock(mutex_);
  return finished_ < added_ && at(finished_).done;
}

inline void copy_crew::cancel() noexcept {
  {
    const std::lock_guard lock(mutex_);
    added_ = begun_;
  }
  while (finish_next() > 0) {
  }
}

/// Begins the next piece and copies it without the lock.
inline void copy_crew::copy_one(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t i = begun_++;
  piece& mine = at(i);
  lock.unlock();
  std::memcpy(mine.to, mine.from, mine.bytes);
  lock.lock();
  mine.done = true;
  if (i == finished_) next_done_.notify_one();
}

inline void copy_crew::run_thread(std::size_t thread) {
  unbind_this_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    work_added_.wait(lock, [&] { return stop_ || (thread < helpers_ && begun_ < added_); });
    if (stop_) return;
    copy_one(lock);
  }
}

}  // namespace fanin::cuda
