// SPDX-License-Identifier: Apache-2.0
// The inputs that the verbs take: elements that lie one after another in memory, perhaps with a mask.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <fanin/error.hpp>
#include <fanin/request.hpp>

namespace fanin {

namespace detail {

/// False for every type. A static_assert of it fails only where the template around it is used.
template <class...>
inline constexpr bool never = false;

/// The parameter of functions that refuse their call. Other functions of the same name go before, because their
/// parameters need no conversion of the caller's arguments to this type.
struct anything {
  template <class T>
  anything(const T&) noexcept {}
};

// These concepts need only <iterator>, because <ranges> takes long to compile.
template <class X>
using iterator_of = decltype(std::ranges::begin(std::declval<X&>()));
template <class X>
using range_value = std::iter_value_t<iterator_of<X>>;
template <class X>
concept contiguous = std::contiguous_iterator<iterator_of<X>> && requires(X& x) {
  std::ranges::data(x);
  std::ranges::size(x);
};
/// Arrays that are no ranges, such as those of Eigen.
template <class X>
concept array_like = !contiguous<X> && requires(const X& x) {
  {*x.data()};
  { x.size() } -> std::integral;
  requires std::is_pointer_v<decltype(x.data())>;
};

template <class X>
auto* data_of(const X& x) {
  if constexpr (contiguous<X>) {
    return std::ranges::data(x);
  } else {
    return x.data();
  }
}
template <class X>
using value_of = std::remove_cvref_t<decltype(*data_of(std::declval<const X&>()))>;

}  // namespace detail

/// Elements that lie one after another in memory, of a type of catalog.hpp: a vector, a span, an array, or any type
/// with data() and size(), such as Eigen::VectorXd.
template <class X>
concept elements = (detail::contiguous<X> ||
                    detail::array_like<X>)&&!std::is_void_v<typename listed_as<detail::value_of<X>>::type>;

/// The element type of `elements`.
template <elements X>
using element_of = typename listed_as<detail::value_of<X>>::type;

namespace detail {

/// Whether an array with strides has no gaps between its elements. The names are Eigen's.
template <class X>
bool has_no_gaps(const X& x) {
  if constexpr (requires { x.innerStride(), x.outerStride(), x.innerSize(); }) {
    return x.size() <= 1 || (x.innerStride() == 1 && (x.innerSize() == x.size() || x.outerStride() == x.innerSize()));
  } else {
    return true;
  }
}

template <class X>
concept lists_bits = std::same_as<X, std::vector<bool, typename X::allocator_type>>;
template <class V>
concept text = std::same_as<V, char> || std::same_as<V, wchar_t> || std::same_as<V, char8_t> ||
    std::same_as<V, char16_t> || std::same_as<V, char32_t> || requires(const V& v) {
  v.c_str();
} || std::convertible_to<V, const char*>;

/// Whether x is `elements`. If not, the compiler says what to do instead, in one sentence.
template <class X>
consteval bool checked_elements() {
  constexpr bool names_memory = requires(const X& x) { x.operator array_view(); };
  constexpr bool taken = elements<X> && !names_memory;
  if constexpr (names_memory) {
    static_assert(taken,
                  "this is not host memory: pass it to fanin::reduce, fanin::enqueue or fanin::describe, with a "
                  "device_context");
  } else if constexpr (!taken && lists_bits<X>) {
    static_assert(taken,
                  "a std::vector<bool> has packed bits and no elements: copy it to a std::vector<unsigned char>");
  } else if constexpr (!taken && requires { typename iterator_of<X>; } && !contiguous<X>) {
    static_assert(taken,
                  "these elements do not lie one after another in memory, as in a std::list, a std::deque or a "
                  "view that computes them: copy them to a std::vector, or push blocks to fanin::incremental");
  } else if constexpr (!taken && (contiguous<X> || array_like<X>)) {
    using V = value_of<X>;
    static_assert(taken || !text<V>, "text is not numbers: convert it first, for example with std::from_chars");
    static_assert(taken || !std::same_as<V, long double>,
                  "fanin has no long double: copy the numbers to a std::vector<double>, which rounds each of them");
    static_assert(taken || text<V> || std::same_as<V, long double>,
                  "fanin has no elements of this type: it reduces float, double, std::complex of these, the types of "
                  "fanin/narrow_float.hpp, and integers of 8 to 64 bits");
  } else {
    static_assert(taken,
                  "fanin reduces numbers that lie one after another in memory: a std::vector, std::span, "
                  "std::array, a pointer and a count, two iterators, or a type with data() and size()");
  }
  return taken;
}

template <class X>
array_view view_of(const X& x) {
  if constexpr (checked_elements<X>()) {
    if (!has_no_gaps(x))
      throw invalid_argument("there are gaps between the array's elements: copy it, or pass its rows");
    return {data_of(x), static_cast<std::size_t>(std::size(x)), type_of<element_of<X>>};
  } else {
    return array_view(nullptr, 0, element_type::f64);
  }
}

/// What ends the elements of an iterator: another iterator, or their number.
template <class S, class I>
concept end_of = std::sentinel_for<S, I> || std::integral<S>;

/// The elements from `first` up to `last`, or `last` elements from `first` on, as a span.
template <class I, end_of<I> S>
auto span_of(I first, S last) {
  constexpr bool lie_together = std::contiguous_iterator<I> && (std::integral<S> || std::sized_sentinel_for<S, I>);
  static_assert(lie_together,
                "the elements of these iterators do not lie one after another in memory: copy them to a "
                "std::vector, or push blocks to fanin::incremental");
  if constexpr (!lie_together) {
    return std::span<const double>();
  } else if constexpr (std::integral<S>) {
    return std::span<const std::iter_value_t<I>>(std::to_address(first), static_cast<std::size_t>(last));
  } else {
    return std::span<const std::iter_value_t<I>>(std::to_address(first), static_cast<std::size_t>(last - first));
  }
}

}  // namespace detail

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

template <class X>
inline constexpr bool is_masked = false;
template <class T>
inline constexpr bool is_masked<masked_span<T>> = true;

template <class M>
concept byte_mask = contiguous<M> && sizeof(range_value<M>) == 1;

template <class X>
auto masked(const X& x, std::size_t mask_size, const mask_view& mask) {
  static_assert(!is_masked<X>, "these elements already have a mask: combine the two masks into one");
  if constexpr (checked_elements<X>()) {
    const array_view all = view_of(x);
    if (all.count != mask_size) throw invalid_argument("the mask has another length than the elements");
    if (!mask && mask_size > 0) throw invalid_argument("the mask is null, but its count is not 0");
    return masked_span<value_of<X>>(data_of(x), all.count, mask);
  } else {
    return masked_span<double>(nullptr, 0, mask);
  }
}

}  // namespace detail

/// The elements of x for which the mask is true: fanin::sum(fanin::where(x, mask)). The mask is in host memory. For
/// dot, where() is the first input, and the mask leaves out pairs. The call reads neither x nor the mask, and owns
/// neither. So a temporary vector has to live until the verb returns.
/// @throws invalid_argument if their lengths differ, or if the mask is null and not empty
template <class X, detail::byte_mask Mask>
auto where(const X& x, const Mask& mask) {
  return detail::masked(x, std::ranges::size(mask), {std::ranges::data(mask), 0, mask_form::bytes});
}
template <class X>
auto where(const X& x, const bit_mask& mask) {
  return detail::masked(x, mask.size, {mask.data, mask.first, mask_form::bits});
}
/// Refuses every other mask by an error of the compiler.
template <class X>
auto where(const X&, const detail::anything&) {
  static_assert(
      detail::never<X>,
      "this is not a mask: pass a std::vector<unsigned char> or the like, with one byte for each element, or a "
      "fanin::bit_mask");
  return masked_span<double>(nullptr, 0, {});
}

}  // namespace fanin
