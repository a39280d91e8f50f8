// SPDX-License-Identifier: Apache-2.0
// Long arrays in little memory: a piece of 64 MiB, mapped again and again.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <span>

namespace fanin::test {

/// `repeats` times a piece of piece_bytes, then `rest`, which has to be shorter.
template <class T>
class repeated_memory {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 26, piece_elements = piece_bytes / sizeof(T);

  /// @throws std::bad_alloc
  repeated_memory(std::span<const T, piece_elements> piece, std::size_t repeats, std::span<const T> rest)
      : bytes_((repeats + 1) * piece_bytes), count_(repeats * piece.size() + rest.size()) {
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const int file = memfd_create("fanin_test", 0);
    if (base == MAP_FAILED || file < 0 || ftruncate(file, piece_bytes) != 0) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    for (std::size_t i = 0; i < repeats; ++i) {
      if (mmap(base_ + i * piece_bytes, piece_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
          MAP_FAILED) {
        throw std::bad_alloc();
      }
    }
    close(file);
    std::memcpy(base_, piece.data(), piece.size_bytes());
    std::memcpy(base_ + repeats * piece_bytes, rest.data(), rest.size_bytes());
  }
  ~repeated_memory() { munmap(base_, bytes_); }
  repeated_memory(const repeated_memory&) = delete;
  repeated_memory& operator=(const repeated_memory&) = delete;

  std::span<const T> elements() const { return {reinterpret_cast<const T*>(base_), count_}; }

 private:
  std::size_t bytes_;
  std::byte* base_;
  std::size_t count_;
};

}  // namespace fanin::test
