// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits, folded as the floats that they are.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/widened.cpp"
#include <hwy/foreach_target.h>
// after foreach_target.h
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "backends/cpu/blocks.hpp"
#include "backends/cpu/leaf.hpp"
#include "backends/cpu/prefetch.hpp"

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes numbers as floats. `Stored` is Highway's type of the format of T. `ahead`: whether to prefetch what
/// follows.
template <class Stored, class T>
HWY_INLINE void widen_all(const T* x, std::size_t count, bool ahead, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<Stored, decltype(d)> stored;
  const hn::Rebind<std::uint16_t, decltype(d)> bits;
  constexpr std::size_t width = hn::MaxLanes(d);
  // Where a target has no instructions for f16, Highway takes its infinities and NaN for numbers. AVX2 and what is
  // newer, with lower numbers, has them, and so has every ARMv8.
  constexpr bool converts = !std::is_same_v<T, f16> || (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64;
  const auto convert = [&](std::size_t i) {
    const auto v = hn::LoadU(bits, reinterpret_cast<const std::uint16_t*>(x + i));
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(stored, v)), d, out + i);
  };
  constexpr std::size_t in_line = 64 / sizeof(T);
  std::size_t i = 0;
  for (; converts && i + in_line <= count; i += in_line) {
    if (ahead) prefetch_line(x + i);
    for (std::size_t v = 0; v < in_line; v += width) convert(i + v);
  }
  for (; converts && i + width <= count; i += width) convert(i);
  std::copy(x + i, x + count, out + i);
}
void widen(const void* x, std::size_t count, bool is_f16, bool ahead, float* out) {
  if (is_f16) {
    widen_all<hwy::float16_t>(static_cast<const f16*>(x), count, ahead, out);
  } else {
    widen_all<hwy::bfloat16_t>(static_cast<const bf16*>(x), count, ahead, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fanin::cpu {
namespace {

HWY_EXPORT(widen);

constexpr std::size_t block = 4096;
static_assert(block % detail::leaf_of<accumulator::plain_sum<float>> == 0, "blocks are whole leaves");

}  // namespace

void fold_widened(const detail::arithmetic& floats, element_type type,
                  bool (*settled_by)(std::uint64_t, std::uint64_t), const detail::operands& data, std::size_t count,
                  void* state) {
  alignas(64) float x[block], y[block];
  const bool is_f16 = type == element_type::f16, is_long = count >= least_prefetched_bytes / sizeof(f16);
  const auto fold_block = [&](std::size_t begin, std::size_t n, void* into) {
    const detail::operands part = operands_from(data, begin, sizeof(f16));
    HWY_DYNAMIC_DISPATCH(widen)(part.x, n, is_f16, is_long, x);
    if (floats.inputs == 2) HWY_DYNAMIC_DISPATCH(widen)(part.y, n, is_f16, is_long, y);
    floats.accumulate({x, y, part.first}, n, into);
  };
  if (floats.fixed_order()) return fold_blocks_in_order(floats, block, 0, count, state, fold_block);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const std::uint64_t before = settled_by != nullptr ? *static_cast<std::uint64_t*>(state) : 0;
    fold_block(begin, n, state);
    if (settled_by != nullptr && settled_by(*static_cast<std::uint64_t*>(state) - before, n)) return;
  }
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
