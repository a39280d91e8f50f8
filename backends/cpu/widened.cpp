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

class widened_fold {
 public:
  widened_fold(const detail::arithmetic& floats, bool is_f16, std::size_t count)
      : floats_(floats), is_f16_(is_f16), is_long_(count >= least_prefetched_bytes / sizeof(f16)) {}

  void fold_block(const detail::operands& data, std::size_t count, void* state) {
    HWY_DYNAMIC_DISPATCH(widen)(data.x, count, is_f16_, is_long_, x_);
    if (floats_.inputs == 2) HWY_DYNAMIC_DISPATCH(widen)(data.y, count, is_f16_, is_long_, y_);
    floats_.accumulate({x_, y_, data.first}, count, state);
  }
  /// Along the tree of the fixed order.
  void fold_ordered(const detail::operands& data, std::size_t count, void* state) {
    if (count <= block) return fold_block(data, count, state);
    const std::size_t left = block * std::bit_floor((count - 1) / block);
    alignas(detail::state_alignment) std::byte right[most_widened_state];
    fold_ordered(data, left, state);
    fold_ordered(from(data, left), count - left, right);
    floats_.merge(state, right);
  }
  static detail::operands from(const detail::operands& data, std::size_t begin) {
    const auto moved = [begin](const void* p) {
      return p != nullptr ? static_cast<const std::uint16_t*>(p) + begin : nullptr;
    };
    return {moved(data.x), moved(data.y), data.first + begin};
  }

 private:
  const detail::arithmetic& floats_;
  bool is_f16_, is_long_;
  alignas(64) float x_[block], y_[block];
};

}  // namespace

void fold_widened(const detail::arithmetic& floats, element_type type,
                  bool (*settled_by)(std::uint64_t, std::uint64_t), const detail::operands& data, std::size_t count,
                  void* state) {
  widened_fold fold(floats, type == element_type::f16, count);
  if (floats.fixed_order()) return fold.fold_ordered(data, count, state);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const std::size_t n = std::min(block, count - begin);
    const std::uint64_t before = settled_by != nullptr ? *static_cast<std::uint64_t*>(state) : 0;
    fold.fold_block(widened_fold::from(data, begin), n, state);
    if (settled_by != nullptr && settled_by(*static_cast<std::uint64_t*>(state) - before, n)) return;
  }
}

}  // namespace fanin::cpu
#endif  // HWY_ONCE
