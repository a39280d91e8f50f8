// SPDX-License-Identifier: Apache-2.0
// Merges of the elements of many vectors at once. Highway includes this file once for each instruction set.
#if defined(FANIN_ACROSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FANIN_ACROSS_INL_H_
#undef FANIN_ACROSS_INL_H_
#else
#define FANIN_ACROSS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace fanin::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector whose element i is the merge of all elements of vector i, for as many vectors as a vector has elements,
/// which has at most 32 bytes. The vectors follow each other at x. Element j is merged with element j + width / 2,
/// then j + width / 4, ..., as by collapse(). In the call, `Number` is the width, and `step` is 1.
template <std::size_t Number, class D, class Merge>
HWY_INLINE hn::Vec<D> across(D d, const hn::TFromD<D>* x, std::size_t step, const Merge& merge) {
  if constexpr (Number == 1) {
    return hn::Load(d, x);
  } else {
    constexpr std::size_t width = hn::MaxLanes(D());
    // A merge puts results of `even` at even places, so that bit k of the place of a result is bit k of its index.
    const auto even = across<Number / 2>(d, x, 2 * step, merge);
    const auto odd = across<Number / 2>(d, x + step * width, 2 * step, merge);
    if constexpr (Number == 2 && width * sizeof(hn::TFromD<D>) == 32) {
      return merge(hn::ConcatLowerLower(d, odd, even), hn::ConcatUpperUpper(d, odd, even));
    } else {
      return merge(hn::InterleaveLower(d, even, odd), hn::InterleaveUpper(d, even, odd));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fanin::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
