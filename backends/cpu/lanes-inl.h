// SPDX-License-Identifier: Apache-2.0
// The leaf of the fixed order: rows of 256 bytes with a virtual lane for each element, whatever the vector's width.
// Highway includes this file once for each instruction set.
#if defined(FANIN_LEAF_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_LEAF_LANES_INL_H_
#undef FANIN_LEAF_LANES_INL_H_
#else
#define FANIN_LEAF_LANES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/cpu/fold.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// One vector for each number of an accumulator's state.
template <class D, int Planes>
struct lanes {
  hn::Vec<D> plane[Planes];
};

/// Merges the lanes of one vector pairwise, lane j with lane j + width / 2, down to one, and stores its planes.
template <class Kernel, class D>
HWY_INLINE void collapse(D d, lanes<D, Kernel::planes> low, hn::TFromD<D>* out) {
  using T = hn::TFromD<D>;
  auto high = low;
  if constexpr (hn::MaxLanes(D()) * sizeof(T) > 16) {
    const hn::Half<D> half;
    lanes<hn::Half<D>, Kernel::planes> a, b;
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

/// The lanes of a whole row.
template <class Kernel, class T>
struct row_state {
  using D = hn::ScalableTag<T>;
  static constexpr std::size_t width = hn::MaxLanes(D());
  static constexpr std::size_t size = row_bytes / sizeof(T);
  static constexpr std::size_t vectors = size / width;
  static_assert(vectors >= 2 && vectors * width == size);
  lanes<D, Kernel::planes> part[vectors];

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
  /// Merges this state into the one of earlier elements, and keeps the result here.
  HWY_INLINE void prepend(const T* earlier) {
    row_state before;
    before.load(earlier);
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < vectors; ++v) {
      Kernel::merge(D(), before.part[v], part[v]);
      part[v] = before.part[v];
    }
  }
};

/// Input of this size does not stay in the L1 and L2 caches, and its lines are prefetched. Kernels with many
/// operations for each line (Kernel::always_prefetches) gain from prefetches at any size; the others lose a little in
/// cache.
constexpr std::size_t least_prefetched_bytes = std::size_t{1} << 20;
/// The bytes from the line that is added to the line that is prefetched. A distance of 4 KiB costs compensated and
/// exact sums a quarter of their speed from the memory of a Xeon host, and plain sums nothing.
template <class Kernel>
constexpr std::size_t prefetch_distance = Kernel::always_prefetches ? 1024 : 4096;

/// The input of a kernel, which is one array.
template <class T, int Inputs>
struct input {
  const T* x;
  HWY_INLINE void advance(std::size_t count) { x += count; }
  template <class Kernel, class D, class S>
  HWY_INLINE void add(D d, S& s, std::size_t i) const {
    Kernel::add(d, s, hn::LoadU(d, x + i));
  }
  HWY_INLINE void prefetch(std::size_t distance_bytes) const {
    for (std::size_t b = 0; b < row_bytes; b += 64) {
      hwy::Prefetch(reinterpret_cast<const char*>(x) + distance_bytes + b);
    }
  }
  /// Adds the elements from i to end - 1, fewer than a vector, and neutral ones.
  template <class Kernel, class D, class S>
  HWY_INLINE void add_part(D d, S& s, std::size_t i, std::size_t end) const {
    HWY_ALIGN T last[hn::MaxLanes(D())];
    std::fill_n(last, hn::MaxLanes(D()), Kernel::template neutral<T>());
    std::copy(x + i, x + end, last);
    Kernel::add(d, s, hn::Load(d, last));
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
  HWY_INLINE void prefetch(std::size_t distance_bytes) const {
    x.prefetch(distance_bytes);
    y.prefetch(distance_bytes);
  }
  template <class Kernel, class D, class S>
  HWY_INLINE void add_part(D d, S& s, std::size_t i, std::size_t end) const {
    HWY_ALIGN T last_x[hn::MaxLanes(D())];
    HWY_ALIGN T last_y[hn::MaxLanes(D())] = {};
    std::fill_n(last_x, hn::MaxLanes(D()), Kernel::template neutral<T>());
    std::copy(x.x + i, x.x + end, last_x);
    std::copy(y.x + i, y.x + end, last_y);
    Kernel::add(d, s, hn::Load(d, last_x), hn::Load(d, last_y));
  }
};

/// Folds one leaf: lane j receives the elements j, j + S::size, j + 2 S::size, ...
template <bool Prefetches, class Kernel, class T>
HWY_INLINE void fold_leaf(input<T, Kernel::inputs> in, std::size_t count, row_state<Kernel, T>& state) {
  using S = row_state<Kernel, T>;
  const typename S::D d;
  constexpr std::size_t width = S::width;
  HWY_UNROLL(16)
  for (std::size_t v = 0; v < S::vectors; ++v) Kernel::reset(d, state.part[v]);
  for (std::size_t r = count / S::size; r > 0; --r, in.advance(S::size)) {
    if constexpr (Prefetches) in.prefetch(prefetch_distance<Kernel>);
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < S::vectors; ++v) in.template add<Kernel>(d, state.part[v], v * width);
  }
  const std::size_t remaining = count % S::size;
  if (remaining == 0) return;
  HWY_UNROLL(16)
  for (std::size_t v = 0; v < S::vectors; ++v) {
    if (remaining >= (v + 1) * width) {
      in.template add<Kernel>(d, state.part[v], v * width);
    } else if (remaining > v * width) {
      in.template add_part<Kernel>(d, state.part[v], v * width, remaining);
    }
  }
}

/// Folds leaves, merges them along the binary tree of partial_tree, and writes the lanes of the root to `state`.
template <bool Prefetches, class Kernel, class T>
HWY_INLINE void merge_leaves(input<T, Kernel::inputs> in, std::size_t count, T* state) {
  using S = row_state<Kernel, T>;
  constexpr std::size_t leaf = leaf_bytes / sizeof(T);
  constexpr std::size_t max_levels = 48;
  S row;
  T nodes[max_levels][Kernel::planes * S::size];
  std::size_t leaves_done = 0;
  for (; count >= leaf; in.advance(leaf), count -= leaf, ++leaves_done) {
    fold_leaf<Prefetches>(in, leaf, row);
    std::size_t level = 0;
    for (; (leaves_done >> level & 1) != 0; ++level) row.prepend(nodes[level]);
    row.store(nodes[level]);
  }
  bool empty = count == 0;
  if (!empty) fold_leaf<Prefetches>(in, count, row);
  for (std::size_t level = 0; leaves_done >> level != 0; ++level) {
    if ((leaves_done >> level & 1) == 0) continue;
    if (empty) {
      row.load(nodes[level]);
      empty = false;
    } else {
      row.prepend(nodes[level]);
    }
  }
  row.store(state);
}

template <class Kernel, class T>
HWY_INLINE void fold_leaves(const input<T, Kernel::inputs>& in, std::size_t count, T* state) {
  if (count <= leaf_bytes / sizeof(T)) {
    row_state<Kernel, T> row;
    fold_leaf<Kernel::always_prefetches>(in, count, row);
    row.store(state);
  } else if (Kernel::always_prefetches || count < least_prefetched_bytes / sizeof(T)) {
    merge_leaves<Kernel::always_prefetches, Kernel>(in, count, state);
  } else {
    merge_leaves<true, Kernel>(in, count, state);
  }
}

/// Merges a row pairwise, lane j with lane j + size / 2, down to one lane.
template <class Kernel, class T>
HWY_INLINE void collapse_row(const T* state, T* out) {
  using S = row_state<Kernel, T>;
  const typename S::D d;
  S row;
  row.load(state);
  HWY_UNROLL(4)
  for (std::size_t half = S::vectors / 2; half > 0; half /= 2) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < half; ++v) Kernel::merge(d, row.part[v], row.part[v + half]);
  }
  collapse<Kernel>(d, row.part[0], out);
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
