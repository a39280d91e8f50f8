// SPDX-License-Identifier: Apache-2.0
// The general loop of CPU backends: any accumulator over contiguous elements on one thread. For accumulators that
// have SIMD kernels, backends use a faster loop with the same bits.
//
// Accumulators whose order matters are folded in rows, leaves and a tree. The elements of a row take at most 256
// bytes, and their states at most 4 KiB. Their number, the width of a row, is the largest such power of two, and at
// least 1. A row of states has a state for each element of a row: element i is added to state i mod width. A leaf is
// 32 rows. The rows of states of consecutive leaves are merged, state by state, along the binary tree over the leaf's
// index. At the end the states of the row are merged pairwise: state j with state j + width / 2, then j + width / 4,
// ... So the result does not depend on threads, chunks or vector widths.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <fanin/accumulator/accumulator.hpp>
#include <fanin/result.hpp>

namespace fanin::detail {

inline constexpr std::size_t row_bytes = 256;
inline constexpr std::size_t rows_in_leaf = 32;
inline constexpr std::size_t leaf_bytes = row_bytes * rows_in_leaf;

/// A part of one or two arrays. Its first element has the position `first` in the whole input.
struct operands {
  const void* x;
  const void* y = nullptr;
  std::uint64_t first = 0;
};

/// Adds element i of the operands.
template <class A>
FANIN_HOST_DEVICE inline void add_element(const operands& data, std::size_t i, typename A::state& s) {
  using T = typename A::element;
  const T& x = static_cast<const T*>(data.x)[i];
  if constexpr (accumulator::inputs_of<A>() == 2) {
    accumulator::add_at<A>(s, data.first + i, x, static_cast<const T*>(data.y)[i]);
  } else {
    accumulator::add_at<A>(s, data.first + i, x);
  }
}

/// The longest chain of rounded operations between an element and the result in the fixed order of rows of
/// `row_width` states, a power of two: the additions to a state, then the merges along the tree of leaves and across
/// the row.
constexpr rounding_chain fixed_order_chain(std::size_t row_width, std::uint64_t count) {
  const int across = std::countr_zero(row_width);
  const std::uint64_t last_row = (std::max<std::uint64_t>(count, 1) - 1) >> across;
  const auto adds = static_cast<int>(std::min<std::uint64_t>(last_row, rows_in_leaf - 1));
  return {static_cast<double>(adds), static_cast<double>(across + std::bit_width(last_row / rows_in_leaf))};
}

/// An accumulator behind function pointers over untyped states, so that backends are compiled once for all operations
/// and types.
struct arithmetic {
  fanin::reproducibility reproducibility;
  /// If true, accumulate() overwrites the state, and partials of 2^k leaves are merged along a binary tree. If false,
  /// accumulate() adds to the state.
  bool in_leaves() const noexcept { return reproducibility == fanin::reproducibility::fixed_order && !one_by_one; }

  int inputs;
  std::size_t element_bytes;
  std::size_t leaf_elements;
  std::size_t state_bytes;
  void (*reset)(void* state);
  void (*accumulate)(const operands& data, std::size_t count, void* state);
  void (*merge)(void* into, const void* from);
  /// Writes the value, of type `result`, to `out`. @throws overflow
  void (*finish)(const void* state, std::uint64_t count, element_type result, void* out);
  /// The bound of the value of elements that are folded with the chain. If order does not matter, the chain is
  /// ignored.
  error_bound (*bound)(const rounding_chain& chain, std::uint64_t count, element_type result);
  /// The bound of the value of elements that the loops fold. If order does not matter, it holds for any order.
  error_bound bound_of(std::uint64_t count, element_type result) const {
    if (one_by_one) return bound({static_cast<double>(std::max<std::uint64_t>(count, 1) - 1), 0}, count, result);
    if (!in_leaves()) return bound({}, count, result);
    return bound(fixed_order_chain(leaf_elements / rows_in_leaf, count), count, result);
  }
  /// Folds all elements on the calling thread, and writes the value. Null if there is no such function, and the
  /// functions above do this. @throws overflow
  void (*reduce)(const operands& data, std::size_t count, element_type result, void* out) = nullptr;
  /// Acts like reduce() for most of up to `most_runs` arrays, in one call. Bit i of the returned number says that
  /// array i is left to reduce(). Null if such a call saves nothing.
  std::uint64_t (*reduce_each)(operation what, const operands* runs, const std::size_t* counts, std::size_t number,
                               element_type result, void* out) = nullptr;
  static constexpr std::size_t most_runs = 64;
  /// Whether the elements are added to one state, one after another.
  bool one_by_one = false;
};

/// The alignment of untyped states, in bytes.
inline constexpr std::size_t state_alignment = 64;

/// The number of elements in a row of A, and in a leaf. Elements that are added as floats have the rows of floats.
template <class A>
inline constexpr std::size_t row_width_of = std::bit_floor(
    std::max<std::size_t>(1, std::min(row_bytes / sizeof(typename accumulator::of_floats_t<A>::element),
                                      4096 / sizeof(typename A::state))));
template <class A>
inline constexpr std::size_t leaf_of = row_width_of<A>* rows_in_leaf;

/// The general loop in the fixed order, on one thread.
template <class A>
class ordered_loop {
 public:
  struct row {
    typename A::state states[row_width_of<A>];
  };

  static void reset(row& into) { std::fill_n(into.states, row_width_of<A>, A::identity()); }

  static void merge(row& into, const row& from) {
    for (std::size_t j = 0; j < row_width_of<A>; ++j) A::merge(into.states[j], from.states[j]);
  }

  static void fold(const operands& data, std::size_t count, row& out) { fold_range(data, 0, count, out); }

  static typename A::state total(row all) {
    for (std::size_t half = row_width_of<A> / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half; ++j) A::merge(all.states[j], all.states[j + half]);
    }
    return all.states[0];
  }

 private:
  static void fold_range(const operands& data, std::size_t begin, std::size_t count, row& out) {
    if (count <= leaf_of<A>) {
      fold_leaf(data, begin, count, out);
      return;
    }
    const std::size_t left = leaf_of<A> * std::bit_floor((count - 1) / leaf_of<A>);
    row right;
    fold_range(data, begin, left, out);
    fold_range(data, begin + left, count - left, right);
    merge(out, right);
  }

  // Inlined into the recursion, a leaf would be compiled up to ten times.
  [[gnu::noinline]] static void fold_leaf(const operands& data, std::size_t begin, std::size_t count, row& out) {
    const auto* const x = static_cast<const typename A::element*>(data.x) + begin;
    if constexpr (requires { A::of_strided(x, count, 0, 1); }) {
      for (std::size_t j = 0; j < row_width_of<A>; ++j) out.states[j] = A::of_strided(x, count, j, row_width_of<A>);
      return;
    }
    reset(out);
    const std::size_t end = begin + count;
    for (; end - begin >= row_width_of<A>; begin += row_width_of<A>) {
      for (std::size_t j = 0; j < row_width_of<A>; ++j) add_element<A>(data, begin + j, out.states[j]);
    }
    for (std::size_t j = 0; begin + j < end; ++j) add_element<A>(data, begin + j, out.states[j]);
  }
};

/// The general loop of an accumulator that is order_free: adds the elements one after another.
template <class A>
struct unordered_loop {
  static void fold(const operands& data, std::size_t count, typename A::state& s) {
    for (std::size_t i = 0; i < count; ++i) add_element<A>(data, i, s);
  }
};

/// The arithmetic of A by the general loop. `finish` and `bound` are null; the caller sets them.
template <class A>
constexpr arithmetic general_arithmetic() {
  using state = typename A::state;
  static_assert(std::is_trivially_copyable_v<state>, "states are copied as bytes");
  static_assert(alignof(state) <= state_alignment);
  static_assert(alignof(typename A::element) <= alignof(std::max_align_t),
                "an element may be aligned to at most alignof(std::max_align_t)");
  static_assert(
      sizeof(state) <= (A::order_free ? 256 : 16) * 1024,
      "the state is too large for the stack: the limit is 256 KiB if the accumulator is order_free, and else 16 KiB");
  constexpr auto inputs = static_cast<int>(accumulator::inputs_of<A>());
  constexpr std::size_t element_bytes = sizeof(typename A::element);
  if constexpr (A::order_free) {
    return {
        reproducibility::exact,
        inputs,
        element_bytes,
        leaf_of<A>,
        sizeof(state),
        [](void* s) { ::new (s) state(A::identity()); },
        [](const operands& data, std::size_t count, void* s) {
          unordered_loop<A>::fold(data, count, *static_cast<state*>(s));
        },
        [](void* into, const void* from) { A::merge(*static_cast<state*>(into), *static_cast<const state*>(from)); },
        nullptr,
        nullptr};
  } else {
    using loop = ordered_loop<A>;
    using row = typename loop::row;
    return {
        reproducibility::fixed_order,
        inputs,
        element_bytes,
        leaf_of<A>,
        sizeof(row),
        [](void* s) { loop::reset(*::new (s) row); },
        [](const operands& data, std::size_t count, void* s) { loop::fold(data, count, *::new (s) row); },
        [](void* into, const void* from) { loop::merge(*static_cast<row*>(into), *static_cast<const row*>(from)); },
        nullptr,
        nullptr};
  }
}

/// The state of A after all additions: merges the row of states of general_arithmetic<A>().
template <class A>
typename A::state general_total(const void* state) {
  if constexpr (A::order_free) {
    return *static_cast<const typename A::state*>(state);
  } else {
    return ordered_loop<A>::total(*static_cast<const typename ordered_loop<A>::row*>(state));
  }
}

}  // namespace fanin::detail
