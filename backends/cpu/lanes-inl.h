// The fixed-order leaf: rows of 256 bytes, one virtual lane per element of a row, whatever the vector's width.
// Included once per instruction set.
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
  /// This state becomes the merge of `earlier` and itself.
  HWY_INLINE void merge_behind(const T* earlier) {
    row_state before;
    before.load(earlier);
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < vectors; ++v) {
      Kernel::merge(D(), before.part[v], part[v]);
      part[v] = before.part[v];
    }
  }
};

/// Input of this size does not stay in the nearer caches: from there on lines are asked for this far ahead. Kernels
/// with much arithmetic for each line (Kernel::always_ahead) gain from it at any size, the others lose a little in
/// cache. They also do best with less of a lead: 4 KiB cost compensated and exact sums a quarter of their speed from
/// the memory of a Xeon host, and plain ones nothing.
constexpr std::size_t far_bytes = std::size_t{1} << 20;
template <class Kernel>
constexpr std::size_t read_ahead = Kernel::always_ahead ? 1024 : 4096;

/// One leaf: lane j receives the elements j, j + row, j + 2 row, ...
template <bool Ahead, class Kernel, class T>
HWY_INLINE void fold_leaf(const T* x, std::size_t count, row_state<Kernel, T>& state) {
  using S = row_state<Kernel, T>;
  const typename S::D d;
  constexpr std::size_t width = S::width;
  HWY_UNROLL(16)
  for (std::size_t v = 0; v < S::vectors; ++v) Kernel::reset(d, state.part[v]);
  for (std::size_t r = count / S::size; r > 0; --r, x += S::size) {
    if constexpr (Ahead) {
      for (std::size_t b = 0; b < row_bytes; b += 64) {
        hwy::Prefetch(reinterpret_cast<const char*>(x) + read_ahead<Kernel> + b);
      }
    }
    HWY_UNROLL(16)
    for (std::size_t v = 0; v < S::vectors; ++v) Kernel::add(d, state.part[v], hn::LoadU(d, x + v * width));
  }
  const std::size_t rest = count % S::size;
  if (rest == 0) return;
  HWY_ALIGN T last[width];
  HWY_UNROLL(16)
  for (std::size_t v = 0; v < S::vectors; ++v) {
    if (rest >= (v + 1) * width) {
      Kernel::add(d, state.part[v], hn::LoadU(d, x + v * width));
    } else if (rest > v * width) {
      std::fill_n(last, width, Kernel::template neutral<T>());
      std::copy(x + v * width, x + rest, last);
      Kernel::add(d, state.part[v], hn::Load(d, last));
    }
  }
}

/// Leaves merged along the binary tree over their index (partial_tree says which), into the row `state`.
template <bool Ahead, class Kernel, class T>
HWY_INLINE void merge_leaves(const T* x, std::size_t count, T* state) {
  using S = row_state<Kernel, T>;
  constexpr std::size_t leaf = leaf_bytes / sizeof(T);
  constexpr std::size_t max_levels = 48;
  S now;
  T nodes[max_levels][Kernel::planes * S::size];
  std::size_t done = 0;
  for (; count >= leaf; x += leaf, count -= leaf, ++done) {
    fold_leaf<Ahead>(x, leaf, now);
    std::size_t level = 0;
    for (; (done >> level & 1) != 0; ++level) now.merge_behind(nodes[level]);
    now.store(nodes[level]);
  }
  bool empty = count == 0;
  if (!empty) fold_leaf<Ahead>(x, count, now);
  for (std::size_t level = 0; done >> level != 0; ++level) {
    if ((done >> level & 1) == 0) continue;
    if (empty) {
      now.load(nodes[level]);
      empty = false;
    } else {
      now.merge_behind(nodes[level]);
    }
  }
  now.store(state);
}

template <class Kernel, class T>
HWY_INLINE void fold_leaves(const T* x, std::size_t count, T* state) {
  if (count <= leaf_bytes / sizeof(T)) {
    row_state<Kernel, T> only;
    fold_leaf<Kernel::always_ahead>(x, count, only);
    only.store(state);
  } else if (Kernel::always_ahead || count < far_bytes / sizeof(T)) {
    merge_leaves<Kernel::always_ahead, Kernel>(x, count, state);
  } else {
    merge_leaves<true, Kernel>(x, count, state);
  }
}

/// A row merged pairwise, lane j with lane j + size / 2, down to one lane.
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
