// SPDX-License-Identifier: Apache-2.0
// Merging a state into one that other blocks merge into at the same time: by the device's own atomics where it has
// them for the operation, by compare-and-swap where not.
#pragma once

#include <limits>

#include "backends/cuda/stages/common.cuh"

namespace fanin::cuda {

template <class State>
using word_of =
    std::conditional_t<sizeof(State) == 4, unsigned,
                       std::conditional_t<sizeof(State) == 8, unsigned long long, fanin::detail::uint128>>;

/// Whether a state of A is merged by compare-and-swap of 16 bytes, which needs sm_90.
template <class A>
inline constexpr bool swaps_16_bytes = sizeof(typename A::state) == 16 && !is_integer_sum<A>;

/// Repeats the compare-and-swap until no other block has changed the state in between. A partial that does not change
/// the state is not written.
template <class A>
__device__ void merge_by_swapping(typename A::state* into, const typename A::state& from) {
  using word = word_of<typename A::state>;
  auto* const target = reinterpret_cast<word*>(into);
  word seen = atomicCAS(target, word{0}, word{0}), expected, wanted;
  do {
    expected = seen;
    typename A::state merged;
    std::memcpy(&merged, &expected, sizeof merged);
    A::merge(merged, from);
    std::memcpy(&wanted, &merged, sizeof wanted);
    if (wanted == expected) return;
    seen = atomicCAS(target, expected, wanted);
  } while (seen != expected);
}

/// The device has atomic min and max of integers. As integers, the bits of positive floats rise with the value, and
/// those of negative ones fall. A NaN becomes the largest (smallest) of these integers, which no other value
/// replaces.
template <bool Largest, class T>
__device__ void merge_extremum(T* into, T x) {
  using signed_word = std::conditional_t<sizeof(T) == 4, int, long long>;
  using unsigned_word = word_of<T>;
  constexpr bool floating = std::is_floating_point_v<T>;
  signed_word bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) bits = Largest ? std::numeric_limits<signed_word>::max() : signed_word{-1};
  if (!floating || bits >= 0) {
    auto* const target = reinterpret_cast<signed_word*>(into);
    Largest ? atomicMax(target, bits) : atomicMin(target, bits);
  } else {
    auto* const target = reinterpret_cast<unsigned_word*>(into);
    Largest ? atomicMin(target, static_cast<unsigned_word>(bits))
            : atomicMax(target, static_cast<unsigned_word>(bits));
  }
}

/// Whether the device's atomic adds x as IEEE does. The one for float takes subnormal numbers, below 2^-126, for 0.
/// From |x| = 2^-101 on that changes nothing: the floats around x lie 2^-125 apart, so that a subnormal total is
/// rounded away, and a total that nearly cancels x is a multiple of 2^-125, as the sum is then.
__device__ inline bool adds_as_ieee(float x) { return !(std::fabs(x) < 0x1p-101f); }
__device__ inline bool adds_as_ieee(double) { return true; }

/// Merges `from` into *into, which other blocks may merge into at the same time.
template <class A>
__device__ void merge_atomically(typename A::state* into, const typename A::state& from) {
  using T = typename A::element;
  if constexpr (is_integer_sum<A>) {
    auto* const words = reinterpret_cast<unsigned long long*>(into);
    const auto low = static_cast<unsigned long long>(from);
    const auto before = atomicAdd(words, low);
    if constexpr (sizeof from == 16) {
      const unsigned carry = before + low < low ? 1 : 0;
      atomicAdd(words + 1, static_cast<unsigned long long>(from >> 64) + carry);
    }
  } else if constexpr (std::is_same_v<A, accumulator::smallest<T>>) {
    merge_extremum<false>(into, from);
  } else if constexpr (std::is_same_v<A, accumulator::largest<T>>) {
    merge_extremum<true>(into, from);
  } else if constexpr (std::is_base_of_v<accumulator::plain_sum<T>, A>) {
    if (adds_as_ieee(from)) {
      atomicAdd(into, from);
    } else {
      merge_by_swapping<A>(into, from);
    }
  } else {
    merge_by_swapping<A>(into, from);
  }
}

}  // namespace fanin::cuda
