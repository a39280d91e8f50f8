// SPDX-License-Identifier: Apache-2.0
// Memory whose neighbours cannot be touched.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <vector>

namespace fanin::test {

/// Memory between two pages that trap.
class guarded_memory {
 public:
  /// `bytes` is rounded up to whole pages.
  explicit guarded_memory(std::size_t bytes) : bytes_((bytes + page() - 1) / page() * page()) {
    void* base = mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(base) + page();
    mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~guarded_memory() { munmap(begin_ - page(), bytes_ + 2 * page()); }
  guarded_memory(const guarded_memory&) = delete;
  guarded_memory& operator=(const guarded_memory&) = delete;

  void forbid_writes() { mprotect(begin_, bytes_, PROT_READ); }
  std::byte* begin() const { return begin_; }
  std::byte* end() const { return begin_ + bytes_; }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  std::byte* begin_;
};

/// A copy of some elements in guarded memory. It cannot be written to either.
template <class T>
class guarded_copy {
 public:
  enum class touching { first_page, last_page };

  guarded_copy(std::span<const T> x, touching side) : memory_(x.size_bytes()) {
    std::byte* const first = side == touching::last_page ? memory_.end() - x.size_bytes() : memory_.begin();
    if (!x.empty()) std::memcpy(first, x.data(), x.size_bytes());
    memory_.forbid_writes();
    elements_ = {reinterpret_cast<const T*>(first), x.size()};
  }

  std::span<const T> elements() const { return elements_; }

 private:
  guarded_memory memory_;
  std::span<const T> elements_;
};

}  // namespace fanin::test
