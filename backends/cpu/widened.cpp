// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 and 16 bits, folded as the floats that they are.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/widened.cpp"
#include <hwy/foreach_target.h>
// These headers have to come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/loads-inl.h"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {

/// Writes numbers as floats. `ahead`: whether to prefetch what follows.
template <class T>
HWY_INLINE void widen_all(const T* x, std::size_t count, bool ahead, float* out) {
  const hn::ScalableTag<float> d;
  constexpr std::size_t width = hn::MaxLanes(d), in_line = 64 / sizeof(T);
  std::size_t i = 0;
  for (; converts<T> && i + in_line <= count; i += in_line) {
    if (ahead) prefetch_line(x + i);
    for (std::size_t v = 0; v < in_line; v += width) hn::StoreU(floats_of(d, x + i + v), d, out + i + v);
  }
  for (; converts<T> && i + width <= count; i += width) hn::StoreU(floats_of(d, x + i), d, out + i);
  std::copy(x + i, x + count, out + i);
}
void widen_any(const void* x, std::size_t count, element_type type, float* out) {
  with_element(type, [&]<class T>() {
    if constexpr (narrow_float<T>) widen_all(static_cast<const T*>(x), count, true, out);
  });
}

void widen_each(const void* x, std::ptrdiff_t along, std::size_t rows, std::size_t columns, element_type type,
                float* out) {
  with_element(type, [&]<class T>() {
    if constexpr (narrow_float<T>) {
      const auto* row = static_cast<const T*>(x);
      for (std::size_t r = 0; r < rows; ++r, row += along) {
        prefetch_row(row + rows_ahead * along, columns * sizeof(T));
        widen_all(row, columns, false, out + r * columns);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(widen_any);
HWY_EXPORT(widen_each);

constexpr std::size_t block = 4096;
static_assert(block % detail::leaf_of<accumulator::plain_sum<float>> == 0, "blocks are whole leaves");

}  // namespace

void widen(const void* x, std::size_t count, element_type type, float* out) {
  HWY_DYNAMIC_DISPATCH(widen_any)(x, count, type, out);
}

void widen_rows(const void* x, std::ptrdiff_t along, std::size_t rows, std::size_t columns, element_type type,
                float* out) {
  HWY_DYNAMIC_DISPATCH(widen_each)(x, along, rows, columns, type, out);
}

void fold_widened(const detail::arithmetic& floats, element_type type,
                  bool (*settled_by)(std::uint64_t, std::uint64_t), const detail::operands& data, std::size_t count,
                  void* state) {
  alignas(64) float x[block], y[block];
  const std::size_t bytes = byte_size(type);
  const auto fold_block = [&](std::size_t begin, std::size_t n, void* into) {
    const detail::operands part = operands_from(data, begin, bytes);
    HWY_DYNAMIC_DISPATCH(widen_any)(part.x, n, type, x);
    if (floats.inputs == 2) HWY_DYNAMIC_DISPATCH(widen_any)(part.y, n, type, y);
    floats.accumulate({x, y, part.first}, n, into);
  };
  if (floats.in_leaves()) return fold_blocks_in_order(floats, block, 0, count, state, fold_block);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const std::uint64_t before = settled_by != nullptr ? *static_cast<std::uint64_t*>(state) : 0;
    fold_block(begin, n, state);
    if (settled_by != nullptr && settled_by(*static_cast<std::uint64_t*>(state) - before, n)) return;
  }
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
