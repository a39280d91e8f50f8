// SPDX-License-Identifier: Apache-2.0
// An input of more than 2^32 bytes: 64 MiB of memory, mapped again and again, and a last part of its own.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "tests/conformance/checks.hpp"
#include "tests/support/reference.hpp"

namespace fanin::test {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 26;
constexpr std::size_t repeats = 64;

template <class T>
class repeated_memory {
 public:
  /// `repeats` times `piece`, then `rest`, which has to be shorter. @throws std::bad_alloc
  repeated_memory(std::span<const T> piece, std::span<const T> rest) : count_(repeats * piece.size() + rest.size()) {
    void* base = mmap(nullptr, (repeats + 1) * piece_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
  ~repeated_memory() { munmap(base_, (repeats + 1) * piece_bytes); }
  repeated_memory(const repeated_memory&) = delete;
  repeated_memory& operator=(const repeated_memory&) = delete;

  std::span<const T> elements() const { return {reinterpret_cast<const T*>(base_), count_}; }

 private:
  std::byte* base_;
  std::size_t count_;
};

/// Small whole numbers, so that what 64 repeats add up to is known exactly.
template <class T>
void expect_known_totals(const backend& b, findings& found) {
  std::vector<T> piece(piece_bytes / sizeof(T));
  std::int64_t total = 0;
  std::int64_t magnitudes = 0;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    const auto v = static_cast<std::int64_t>(i * 2654435761u >> 7 & 15) - 6;
    piece[i] = static_cast<T>(v);
    total += v;
    magnitudes += std::abs(v);
  }
  const std::vector<T> rest{1, 100, -200, 3, 5};
  total = total * static_cast<std::int64_t>(repeats) - 91;
  magnitudes = magnitudes * static_cast<std::int64_t>(repeats) + 309;

  const repeated_memory<T> memory(piece, rest);
  const auto x = memory.elements();
  const auto expect = [&](operation what, const options& chosen, scalar expected) {
    const scalar value = call(b, what, x, chosen).value;
    found.expect(same(value, expected),
                 [&] { return told(what, x, chosen) + ": " + shown(value) + " instead of " + shown(expected); });
  };
  expect(operation::min, {}, T{-200});
  expect(operation::max, {}, T{100});
  if constexpr (floating<T>) {
    expect(operation::sum, {.how = method::exact}, static_cast<T>(total));
    const reduction fast = call(b, operation::sum, x);
    const double error = std::abs(static_cast<double>(std::get<T>(fast.value)) - static_cast<double>(total));
    found.expect(error <= fast.bound.of_magnitudes * static_cast<double>(magnitudes),
                 [&] { return told(operation::sum, x) + ": " + shown(fast.value) + " breaks its bound"; });
  } else {
    expect(operation::sum, {}, scalar(total));
  }
}

}  // namespace

void check_over_4_gib(const backend& b, findings& found) {
  expect_known_totals<std::int32_t>(b, found);
  expect_known_totals<float>(b, found);
}

}  // namespace fanin::test
