// Threads that copy memory in pieces, while their caller uses the pieces that are in place. Knows nothing of CUDA.
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

#include "backends/threads.hpp"

namespace fanin::cuda {

/// Pieces are begun in the order of add(), by the threads and, where they are late, by the caller; they may end in
/// any order, and finish_next() hands them out in order. Threads: one caller at a time.
class copy_crew {
 public:
  /// A thread fills this in 25 to 50 us: soon enough for the bus to start on, long enough to be worth taking a lock.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;
  /// Added and not yet handed out, at any time.
  static constexpr std::size_t most_pieces = 256;
  /// More do not copy faster, but share the memory's bandwidth.
  static constexpr unsigned most_threads = 16;

  copy_crew() = default;
  /// Nothing may be left of what was added.
  ~copy_crew();
  copy_crew(const copy_crew&) = delete;
  copy_crew& operator=(const copy_crew&) = delete;

  /// Lets up to `threads` >= 1 threads copy, the caller's included. Those that are missing are made, and kept; where
  /// the system refuses one, there are fewer.
  void staff(unsigned threads);

  /// Enqueues a copy. Both places are in use until its last piece is handed out, or drop().
  void add(std::byte* to, const std::byte* from, std::size_t bytes);

  /// Waits until the next piece is in place; copies it here if nobody has begun it. Its size, or 0 if none is left.
  std::size_t finish_next();

  /// Whether the next piece is in place.
  bool next_is_done();

  /// Forgets what nobody has begun and waits for the rest.
  void drop() noexcept;

 private:
  struct piece {
    std::byte* to;
    const std::byte* from;
    std::size_t bytes;
    bool done;
  };

  piece& at(std::uint64_t i) noexcept { return pieces_[i % most_pieces]; }
  void copy_one(std::unique_lock<std::mutex>& lock);
  void work(std::size_t thread);

  std::mutex mutex_;
  std::condition_variable more_, next_done_;
  std::array<piece, most_pieces> pieces_{};
  std::uint64_t finished_ = 0, begun_ = 0, added_ = 0;  ///< finished_ <= begun_ <= added_
  std::size_t helpers_ = 0;                             ///< threads that may copy, without the caller's
  bool stop_ = false;
  std::vector<std::jthread> threads_;  ///< last, so that they end first
};

inline copy_crew::~copy_crew() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  more_.notify_all();
}

inline void copy_crew::staff(unsigned threads) {
  const std::size_t helpers = std::min(threads, most_threads) - 1;
  try {
    while (threads_.size() < helpers) threads_.emplace_back([this, i = threads_.size()] { work(i); });
  } catch (const std::system_error&) {
  }
  const std::lock_guard lock(mutex_);
  helpers_ = std::min(helpers, threads_.size());
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
  if (helpers_ > 0) more_.notify_all();
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

inline void copy_crew::drop() noexcept {
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

inline void copy_crew::work(std::size_t thread) {
  unbind_this_thread();
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [&] { return stop_ || (thread < helpers_ && begun_ < added_); });
    if (stop_) return;
    copy_one(lock);
  }
}

}  // namespace fanin::cuda
