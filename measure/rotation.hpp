// SPDX-License-Identifier: Apache-2.0
// Host arrays for timed calls, either warm in the caches or in enough copies that no call finds one there.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <fanin/request.hpp>

namespace fanin::measure {

/// A rotation is one array, or several copies of one array that calls take in turn.
class rotation {
 public:
  /// The array itself, not copied. A call finds in the caches the bytes that the call before it left there.
  static rotation in_place(const array_view& x) { return rotation(x); }
  /// Copies that together are larger than twice the largest cache, or one copy if that takes more than a quarter of
  /// the machine's memory. Each copy begins on a page. @throws out_of_memory
  static rotation past_caches(const array_view& x);
  /// One copy of the array, which begins on a page. @throws out_of_memory
  static rotation warm(const array_view& x);

  /// Copy number i modulo the number of copies.
  array_view at(std::size_t i) const noexcept;
  /// Whether calls may find their elements in a cache.
  bool is_warm() const noexcept { return places_ == 1; }

 private:
  struct freed {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  explicit rotation(const array_view& x) : first_(x) {}
  rotation(const array_view& x, std::size_t places);

  array_view first_;
  std::size_t places_ = 1, stride_bytes_ = 0;
  std::unique_ptr<std::byte, freed> memory_;
};

}  // namespace fanin::measure
