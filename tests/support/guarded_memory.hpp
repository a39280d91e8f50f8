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

/// A copy of some elements between two pages that trap. It cannot be written to either.
template <class T>
class guarded_copy {
 public:
  enum class touching { first_page, last_page };

  guarded_copy(std::span<const T> x, touching side) : bytes_((x.size_bytes() + page() - 1) / page() * page()) {
    void* base = mmap(nullptr, bytes_ + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    std::byte* first = base_ + page();
    mprotect(first, bytes_, PROT_READ | PROT_WRITE);
    if (side == touching::last_page) first += bytes_ - x.size_bytes();
    if (!x.empty()) std::memcpy(first, x.data(), x.size_bytes());
    mprotect(base_ + page(), bytes_, PROT_READ);
    elements_ = {reinterpret_cast<const T*>(first), x.size()};
  }
  ~guarded_copy() { munmap(base_, bytes_ + 2 * page()); }
  guarded_copy(const guarded_copy&) = delete;
  guarded_copy& operator=(const guarded_copy&) = delete;

  std::span<const T> elements() const { return elements_; }

 private:
  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  std::byte* base_;
  std::span<const T> elements_;
};

}  // namespace fanin::test
