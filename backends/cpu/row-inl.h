// SPDX-License-Identifier: Apache-2.0
// The leaf of the fixed order: rows of 256 bytes with a state for each element, whatever the vector's width.
// Highway includes this file once for each instruction set.
#if defined(FANIN_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_ROW_INL_H_
#undef FANIN_ROW_INL_H_
#else
#define FANIN_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/fold.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The states of an accumulator for the elements of a vector: one vector for each number of a state.
template <class D, int Planes>
struct vector_states {
  hn::Vec<D> plane[Planes];
};

/// Merges the states of one vector pairwise, state j with state j + width / 2, down to one, and stores its numbers.
template <class Kernel, class D>
HWY_INLINE void collapse(D d, vector_states<D, Kernel::planes> low, hn::TFromD<D>* out) {
  using T = hn::TFromD<D>;
  auto high = low;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    const hn::Half<D> half;
    vector_states<hn::Half<D>, Kernel::planes> a, b;
    for (int p = 0; p < Kernel::planes; ++p) {
      a.plane[p] = hn::LowerHalf(half, low.plane[p]);
      b.plane[p] = hn::UpperHalf(half, low.plane[p]);
    }
    Kernel::merge(half, a, b);
    collapse<Kernel>(half, a, out);
  } else {
    if constexpr (sizeof(T) == 4) {
      for (int p = 0; p < Kernel::planes; ++p) high.plane[p] = hn::Shuffle1032(low.plane[p]);
      Kernel::merge(d, low, high);
      for (int p = 0; p < Kernel::planes; ++p) high.plane[p] = hn::Shuffle2301(low.plane[p]);
    } else {
      for (int p = 0; p < Kernel::planes; ++p) high.plane[p] = hn::Shuffle01(low.plane[p]);
    }
    Kernel::merge(d, low, high);
    for (int p = 0; p < Kernel::planes; ++p) out[p] = hn::GetLane(low.plane[p]);
  }
}

/// The states of a whole row.
template <class Kernel, class T>
struct row_state {
  using D = hn::ScalableTag<T>;
  static constexpr std::size_t width = hn::MaxLanes(D());
  static constexpr std::size_t size = row_bytes / sizeof(T);
  static constexpr std::size_t vectors = size / width;
  static_assert(vectors >= 2 && vectors * width == size);
  vector_states<D, Kernel::planes> part[vectors];

  HWY_INLINE void load(const T* from) {
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < vectors; ++v) {
      for (std::size_t p = 0; p < Kernel::planes; ++p) part[v].plane[p] = hn::LoadU(D(), from + p * size + v * width);
    }
  }
  HWY_INLINE void store(T* to) const {
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < vectors; ++v) {
      for (std::size_t p = 0; p < Kernel::planes; ++p) hn::StoreU(part[v].plane[p], D(), to + p * size + v * width);
    }
  }
  /// Merges this state into the state of earlier elements, and keeps the merged state here.
  HWY_INLINE void prepend(const T* earlier) {
    row_state before;
    before.load(earlier);
    before.append(*this);
    *this = before;
  }
  /// Merges the state of later elements into this one.
  HWY_INLINE void append(const row_state& later) {
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < vectors; ++v) Kernel::merge(D(), part[v], later.part[v]);
  }
};

/// Shorter input is added from where it begins, whatever its alignment.
constexpr std::size_t least_aligned_bytes = 4096;

/// Whether the instruction set loads a part of a vector in one instruction. The others have vectors of 16 bytes.
constexpr bool has_masked_loads = HWY_TARGET <= HWY_AVX2;

/// The elements begin, ..., end - 1 of the vector at x, which are all that is read, with `fill` for the others.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_part(D d, const T* x, std::size_t begin, std::size_t end, T fill) {
  constexpr bool loads_parts = HWY_TARGET <= HWY_AVX3 || (has_masked_loads && sizeof(T) >= 4);
  if constexpr (loads_parts) {
    const auto wanted = hn::AndNot(hn::FirstN(d, begin), hn::FirstN(d, end));
    return hn::IfThenElse(wanted, hn::MaskedLoad(wanted, d, x), hn::Set(d, fill));
  } else {
    HWY_ALIGN T elements[hn::MaxLanes(D())];
    std::fill_n(elements, hn::MaxLanes(D()), fill);
    std::copy(x + begin, x + end, elements + begin);
    return hn::Load(d, elements);
  }
}

/// The input of a kernel, which is one array.
template <class T, int Inputs>
struct input {
  const T* x;
  HWY_INLINE void advance(std::size_t count) { x += count; }
  template <class Kernel, class D, class S>
  HWY_INLINE void add(D d, S& s, std::size_t i) const {
    Kernel::add(d, s, hn::LoadU(d, x + i));
  }
  HWY_INLINE void prefetch() const {
    for (std::size_t b = 0; b < row_bytes; b += 64) prefetch_line(reinterpret_cast<const char*>(x) + b);
  }
  /// Adds elements begin, ..., end - 1 of the vector at element i, which may be before the input, and neutral
  /// elements.
  template <class Kernel, class D, class S>
  HWY_INLINE void add_part(D d, S& s, std::ptrdiff_t i, std::size_t begin, std::size_t end) const {
    Kernel::add(d, s, load_part(d, x + i, begin, end, Kernel::template neutral<T>()));
  }
  /// `room` with the next `count` elements, and `filler` up to `size`.
  HWY_INLINE input padded(std::size_t count, std::size_t size, T filler, T* room) const {
    std::fill_n(room, size, filler);
    std::copy_n(x, count, room);
    return {room};
  }
  /// The elements before the first one that lies at a multiple of a vector's size. Loads from there are faster: other
  /// vectors of 64 bytes lie in two cache lines each.
  HWY_INLINE std::size_t unaligned() const {
    constexpr std::size_t bytes = hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(x) % bytes;
    return has_masked_loads && past % sizeof(T) == 0 ? (bytes - past) % bytes / sizeof(T) : 0;
  }
};

/// The input of a kernel of two arrays. Products with the neutral element of a sum, -0, are -0 where the other factor
/// is +0.
template <class T>
struct input<T, 2> {
  input<T, 1> x, y;
  HWY_INLINE void advance(std::size_t count) {
    x.advance(count);
    y.advance(count);
  }
  template <class Kernel, class D, class S>
  HWY_INLINE void add(D d, S& s, std::size_t i) const {
    Kernel::add(d, s, hn::LoadU(d, x.x + i), hn::LoadU(d, y.x + i));
  }
  HWY_INLINE void prefetch() const {
    x.prefetch();
    y.prefetch();
  }
  template <class Kernel, class D, class S>
  HWY_INLINE void add_part(D d, S& s, std::ptrdiff_t i, std::size_t begin, std::size_t end) const {
    Kernel::add(d, s, load_part(d, x.x + i, begin, end, Kernel::template neutral<T>()),
                load_part(d, y.x + i, begin, end, T{0}));
  }
  HWY_INLINE input padded(std::size_t count, std::size_t size, T filler, T* room) const {
    return {x.padded(count, size, filler, room), y.padded(count, size, T{0}, room + size)};
  }
  HWY_INLINE std::size_t unaligned() const { return x.unaligned(); }
};

/// Folds one leaf, step by step, so that the steps of two leaves can alternate. `turn` elements come before the first
/// whole vector; they are added to the last states of the row. So state j receives the elements of state
/// (j + turn) mod S::size of the fixed order.
template <class Kernel, class T>
struct leaf_fold {
  using S = row_state<Kernel, T>;
  static constexpr std::size_t width = S::width;
  input<T, Kernel::inputs> in;
  std::size_t count;
  S row;

  HWY_INLINE leaf_fold(const input<T, Kernel::inputs>& elements, std::size_t n, std::size_t turn)
      : in(elements), count(n) {
    const typename S::D d;
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < S::vectors; ++v) Kernel::reset(d, row.part[v]);
    if constexpr (has_masked_loads) {
      if (turn == 0) return;
      const std::size_t first = std::min(turn, count), begin = width - turn;
      in.template add_part<Kernel>(d, row.part[S::vectors - 1], -static_cast<std::ptrdiff_t>(begin), begin,
                                   begin + first);
      in.advance(first);
      count -= first;
    }
  }
  HWY_INLINE std::size_t rows() const { return count / S::size; }
  HWY_INLINE void add_row() {
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < S::vectors; ++v) {
      in.template add<Kernel>(typename S::D(), row.part[v], v * width);
    }
    in.advance(S::size);
  }
  template <bool Prefetches>
  HWY_INLINE void add_rows(std::size_t rows) {
    for (; rows > 0; --rows) {
      if constexpr (Prefetches) in.prefetch();
      add_row();
    }
  }
  /// Adds the elements that are left after all whole rows.
  HWY_INLINE void add_rest() {
    const typename S::D d;
    const std::size_t left = count % S::size;
    if (left == 0) return;
    if constexpr (!has_masked_loads) {  // a part of any of 16 vectors would be much code
      HWY_ALIGN T room[Kernel::inputs * S::size];
      in = in.padded(left, S::size, Kernel::template neutral<T>(), room);
      add_row();
      return;
    }
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < S::vectors; ++v) {
      if (left >= (v + 1) * width) {
        in.template add<Kernel>(d, row.part[v], v * width);
      } else if (left > v * width) {
        in.template add_part<Kernel>(d, row.part[v], static_cast<std::ptrdiff_t>(v * width), 0, left - v * width);
      }
    }
  }
};

/// An addition takes 4 cycles on the cores of a Xeon, which begin two in each, so 8 have to be under way. Where a row
/// has 4 vectors, two leaves are folded at once if the input stays in the L1 cache. From the L2 cache that takes half
/// as long again as one leaf after the other by one loop, whose loads the processor's prefetcher can follow.
template <class Kernel, class T>
constexpr bool folds_pairs = Kernel::planes == 1 && row_state<Kernel, T>::vectors == 4;
constexpr std::size_t most_paired_bytes = 4 * leaf_bytes;

/// Folds one leaf, or two if the kernel folds_pairs, which it merges.
template <bool Prefetches, class Kernel, class T>
HWY_INLINE row_state<Kernel, T> fold_block(input<T, Kernel::inputs> in, std::size_t count, std::size_t turn) {
  constexpr std::size_t leaf = leaf_bytes / sizeof(T);
  leaf_fold<Kernel, T> first(in, std::min(count, leaf), turn);
  if constexpr (folds_pairs<Kernel, T> && !Prefetches) {
    if (count > leaf) {
      in.advance(leaf);
      leaf_fold<Kernel, T> second(in, count - leaf, turn);
      const std::size_t both = second.rows(), more = first.rows() - both;
      for (std::size_t r = both; r > 0; --r) {
        first.add_row();
        second.add_row();
      }
      first.template add_rows<false>(more);
      first.add_rest();
      second.add_rest();
      first.row.append(second.row);
      return first.row;
    }
  }
  first.template add_rows<Prefetches>(first.rows());
  first.add_rest();
  return first.row;
}

/// Folds blocks of one leaf, or of two, and merges them along the binary tree of partial_tree.
template <bool Prefetches, class Kernel, class T>
HWY_NOINLINE void merge_blocks(input<T, Kernel::inputs> in, std::size_t count, std::size_t turn, std::size_t block,
                               row_state<Kernel, T>& root) {
  using S = row_state<Kernel, T>;
  constexpr std::size_t max_levels = 48;
  T nodes[max_levels][Kernel::planes * S::size];
  S row;
  std::size_t blocks_done = 0;
  bool empty = true;
  do {
    row = fold_block<Prefetches, Kernel, T>(in, std::min(count, block), turn);
    empty = count >= block;
    if (!empty) break;
    std::size_t level = 0;
    for (; (blocks_done >> level & 1) != 0; ++level) row.prepend(nodes[level]);
    row.store(nodes[level]);
    in.advance(block);
    count -= block;
    ++blocks_done;
  } while (count > 0);
  for (std::size_t level = 0; blocks_done >> level != 0; ++level) {
    if ((blocks_done >> level & 1) == 0) continue;
    if (empty) {
      row.load(nodes[level]);
      empty = false;
    } else {
      row.prepend(nodes[level]);
    }
  }
  root = row;
}

/// The places by which the states of an input are turned.
template <class Kernel, class T>
HWY_INLINE std::size_t turn_of(const input<T, Kernel::inputs>& in, std::size_t count) {
  return count < least_aligned_bytes / sizeof(T) ? 0 : in.unaligned();
}

template <class Kernel, class T>
constexpr std::size_t block_of(std::size_t count) {
  constexpr std::size_t leaf = leaf_bytes / sizeof(T);
  return folds_pairs<Kernel, T> && count <= most_paired_bytes / sizeof(T) ? 2 * leaf : leaf;
}

/// Folds any number of elements into a row whose states are turned.
template <class Kernel, class T>
HWY_INLINE void fold_leaves(const input<T, Kernel::inputs>& in, std::size_t count, std::size_t turn,
                            row_state<Kernel, T>& root) {
  constexpr bool always = Kernel::always_prefetches;
  const std::size_t block = block_of<Kernel, T>(count);
  if (always || count < least_prefetched_bytes / sizeof(T)) {
    merge_blocks<always, Kernel>(in, count, turn, block, root);
  } else {
    merge_blocks<true, Kernel>(in, count, turn, block, root);
  }
}

/// Folds any number of elements into the states of a row.
template <class Kernel, class T>
HWY_INLINE void fold_to_row(const input<T, Kernel::inputs>& in, std::size_t count, T* state) {
  using S = row_state<Kernel, T>;
  S row;
  const std::size_t turn = turn_of<Kernel, T>(in, count);
  fold_leaves<Kernel, T>(in, count, turn, row);
  row.store(state);
  for (std::size_t p = 0; p < Kernel::planes; ++p) {
    std::rotate(state + p * S::size, state + (p + 1) * S::size - turn, state + (p + 1) * S::size);
  }
}

/// Merges a row pairwise, state j with state j + size / 2, down to one state. The states may be turned: merges are
/// commutative, and states that are half of a row apart stay so.
template <class Kernel, class T>
HWY_INLINE std::array<T, Kernel::planes> collapse_row(row_state<Kernel, T> row) {
  using S = row_state<Kernel, T>;
  const typename S::D d;
  HWY_UNROLL(4)
  for (std::size_t half = S::vectors / 2; half > 0; half /= 2) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < half; ++v) Kernel::merge(d, row.part[v], row.part[v + half]);
  }
  std::array<T, Kernel::planes> total;
  collapse<Kernel>(d, row.part[0], total.data());
  return total;
}

/// Folds any number of elements into one state.
template <class Kernel, class T>
HWY_INLINE std::array<T, Kernel::planes> fold_to_state(const input<T, Kernel::inputs>& in, std::size_t count) {
  const std::size_t turn = turn_of<Kernel, T>(in, count);
  if (Kernel::planes == 1 && count <= block_of<Kernel, T>(count)) {  // Short input saves the call, and a copy.
    return collapse_row<Kernel, T>(fold_block<false, Kernel, T>(in, count, turn));
  }
  row_state<Kernel, T> row;
  fold_leaves<Kernel, T>(in, count, turn, row);
  return collapse_row<Kernel, T>(row);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
