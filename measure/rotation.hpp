// Host data in several places, for calls that shall not find it in a cache.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <fanin/request.hpp>

namespace fanin::measure {

/// One array, or copies of it that calls take in turn.
class rotation {
 public:
  /// The array itself: every call finds what the last one left in the caches.
  static rotation in_place(const array_view& x) { return rotation(x); }
  /// Copies that follow each other in a ring of twice the largest cache, if that takes no more than a quarter of
  /// the machine's memory; else one. Each begins on a page. @throws out_of_memory
  static rotation past_caches(const array_view& x);
  /// One copy, which begins on a page. @throws out_of_memory
  static rotation warm(const array_view& x);

  /// Any i.
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
