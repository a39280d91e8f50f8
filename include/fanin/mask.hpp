// SPDX-License-Identifier: Apache-2.0
// Masks: which elements take part in a reduction.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include <fanin/error.hpp>

namespace fanin {

enum class mask_form : std::uint8_t {
  bytes,  ///< one byte for each element, which is not 0 if the element takes part; a bool is such a byte
  bits,   ///< one bit for each element, from the lowest bit of the first byte on, as Arrow's validity bitmaps are
};

/// A mask for elements that lie one after another. Without data every element takes part. Does not own the data.
struct mask_view {
  const void* data = nullptr;
  std::uint64_t first = 0;  ///< the byte or the bit of the first element
  mask_form form = mask_form::bytes;

  explicit operator bool() const noexcept { return data != nullptr; }
  /// The mask from the entry of element `count` on.
  mask_view from(std::uint64_t count) const noexcept { return {data, first + count, form}; }
};

/// Bits of a mask, one for each of `size` elements: bit i is bit (first + i) % 8 of byte (first + i) / 8.
struct bit_mask {
  const void* data = nullptr;
  std::size_t size = 0;
  std::uint64_t first = 0;
};

/// Elements with a mask, as where() makes them.
template <class T>
class masked_span {
 public:
  masked_span(const T* data, std::size_t size, const mask_view& mask) noexcept
      : data_(data), size_(size), mask_(mask) {}
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  const mask_view& mask() const noexcept { return mask_; }

 private:
  const T* data_;
  std::size_t size_;
  mask_view mask_;
};

namespace detail {

template <class M>
concept byte_mask = std::ranges::contiguous_range<M> && std::ranges::sized_range<M> &&
                    sizeof(std::ranges::range_value_t<M>) == 1;

inline void check_mask_size(std::size_t elements, std::size_t mask) {
  if (elements != mask) throw invalid_argument("the mask has another length than the elements");
}

}  // namespace detail

/// The elements of x where the mask, in host memory, is true: fanin::sum(fanin::where(x, mask)). A verb of two inputs
/// takes it as its first one, and leaves out the pairs. Owns neither x nor the mask, and reads neither.
/// @throws invalid_argument if their lengths differ
template <class X, detail::byte_mask Mask>
auto where(const X& x, const Mask& mask) {
  detail::check_mask_size(x.size(), std::ranges::size(mask));
  return masked_span(x.data(), x.size(), {std::ranges::data(mask), 0, mask_form::bytes});
}
template <class X>
auto where(const X& x, const bit_mask& mask) {
  detail::check_mask_size(x.size(), mask.size);
  return masked_span(x.data(), x.size(), {mask.data, mask.first, mask_form::bits});
}

}  // namespace fanin
