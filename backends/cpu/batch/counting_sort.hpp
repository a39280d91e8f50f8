// SPDX-License-Identifier: Apache-2.0
// A stable counting sort. Each of several parts of the input counts its keys; sums of the counts say where each part
// puts the elements of each bucket.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fanin/batch.hpp>
#include <fanin/error.hpp>

#include "backends/cpu/batch/index.hpp"
#include "backends/cpu/cpu_backend.hpp"
#include "base/threads.hpp"

namespace fanin::cpu {

/// @throws invalid_argument, which names key i
[[noreturn]] inline void refuse_key(const batch& groups, std::size_t i) {
  throw key_of_no_group(i, shown_entry(groups.index, i), groups.result_count);
}

template <class Key>
class counting_sort {
 public:
  /// Sorts the keys that are below `groups` into buckets. The bucket of a key is key / 2^shift.
  counting_sort(const cpu_backend& backend, unsigned threads, const index_entries<Key>& keys, std::size_t count,
                std::size_t groups, unsigned shift)
      : backend_(backend),
        keys_(keys),
        count_(count),
        groups_(groups),
        shift_(shift),
        buckets_(groups == 0 ? 0 : ((groups - 1) >> shift) + 1) {
    constexpr std::size_t least_part = std::size_t{1} << 16;  // Parts of fewer elements are not worth a thread.
    const std::size_t worth = std::min(count / least_part, count / (buckets_ + 1));
    parts_ = std::max<std::size_t>(1, std::min<std::size_t>(std::min(threads, most_threads), worth));
    threads_ = parts_ == 1 ? 1 : startable_threads(static_cast<unsigned>(parts_));
    next_.resize(parts_ * distance());
    first_outside_ = count;
  }

  std::size_t buckets() const noexcept { return buckets_; }
  /// The first element whose key is of no group, or the number of elements.
  std::size_t first_outside() const noexcept { return first_outside_; }

  /// Writes the first place of each bucket, and the end of the last one.
  void count(std::uint64_t* offsets) {
    run([this](std::uint64_t* next, std::size_t i, std::size_t key) {
      if (key < groups_) {
        ++next[key >> shift_];
      } else {
        for (std::size_t known = first_outside_; i < known && !first_outside_.compare_exchange_weak(known, i);) {
        }
      }
    });
    std::uint64_t before = 0;
    for (std::size_t b = 0; b < buckets_; ++b) {
      offsets[b] = before;
      for (std::size_t p = 0; p < parts_; ++p) before += std::exchange(next_[p * distance() + b], before);
    }
    offsets[buckets_] = before;
  }

  /// Calls put(i, place, key) for each element i that is in a group, in the order of the input within each part.
  template <class Put>
  void place(const Put& put) {
    run([&put, groups = groups_, shift = shift_](std::uint64_t* next, std::size_t i, std::size_t key) {
      if (key < groups) put(i, next[key >> shift]++, key);
    });
  }

 private:
  static constexpr std::size_t key_block = 256;  ///< keys that are read at once

  /// The distance from the counts of a part to the counts of the next part, which another thread writes. Two cache
  /// lines are between them.
  std::size_t distance() const noexcept { return buckets_ + 16; }

  /// Calls f(next, i, key) for each element, where `next` is the part's.
  template <class F>
  void run(const F& f) {
    struct job {
      counting_sort& sort;
      const F& f;
    } shared{*this, f};
    const auto run_part = [](void* context, std::size_t part) {
      const job& j = *static_cast<job*>(context);
      counting_sort& s = j.sort;
      const F one = j.f;
      std::uint64_t* const next = s.next_.data() + part * s.distance();
      const std::size_t length = s.count_ / s.parts_, end = part + 1 == s.parts_ ? s.count_ : length * (part + 1);
      Key space[key_block];
      for (std::size_t first = length * part; first < end; first += key_block) {
        const std::size_t here = std::min(key_block, end - first);
        const Key* const keys = s.keys_.at(first, here, space);
        for (std::size_t k = 0; k < here; ++k) one(next, first + k, std::size_t{keys[k]});
      }
    };
    backend_.run(threads_, parts_, {run_part, &shared});
  }

  const cpu_backend& backend_;
  index_entries<Key> keys_;
  std::size_t count_, groups_;
  unsigned shift_;
  std::size_t buckets_, parts_;
  unsigned threads_;
  std::vector<std::uint64_t> next_;
  std::atomic<std::size_t> first_outside_;
};

}  // namespace fanin::cpu
